/** Messages of any form; those in spec section 8 are word for word. */
export const common = {
  wrong: 'Something went wrong. Please try again.',
  offline: 'We couldn’t reach the server. Check your connection and try again.',
  limited: 'Too many tries. Please wait a little and try again.',
  otherSite: 'This form was sent from another site. Please send it from here.',
} as const;
