/**
 * Messages that several features show; those in spec section 8 are word for word. They aren't in `messages.ts`, because nearly every page's
 * script loads that file.
 */
export const signInUnavailable = 'Sign-in is unavailable right now. Try again in a few minutes.';
export const accountExists = 'A user with this email already exists.';
export const paymentFailed = 'Payment has failed - please check your card details, or try another payment method.';
