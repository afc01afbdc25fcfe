/** Keys of the sandbox's account; they aren't valid at Stripe. */
export const keys = {
  secret: 'sk_test_BroadsheetSandbox000000',
  publishable: 'pk_test_BroadsheetSandbox000000',
  webhook: 'whsec_BroadsheetSandbox00000000',
} as const;
