/** Keys of the sandbox's account; the real Stripe doesn't know them. */
export const keys = {
  secret: 'sk_test_BroadsheetSandbox000000',
  publishable: 'pk_test_BroadsheetSandbox000000',
  webhook: 'whsec_BroadsheetSandbox00000000',
} as const;
