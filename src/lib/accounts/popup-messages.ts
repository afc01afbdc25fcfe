/** Apart from messages.ts, because every page of a signed-out reader loads them. */

/** The popups to sign in (spec section 2). */
export const popupMessages = {
  signIn: 'Sign in or create a free account',
  haveAccount: 'Have an account? Use this form to sign in.',
  welcome: 'Sign up for breaking news and exclusive daily updates',
} as const;
