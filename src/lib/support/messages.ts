/** What the support form tells a reader. Free of imports: the page, the route and the island use the same sentences. */

/** Of the whole form. The first is the specification's own (section 8). */
export const supportMessages = {
  failed: 'There was an error submitting your message. Please try again.',
  sent: 'Thank you. We’ve received your message, and a person will answer it.',
} as const;

/** Of one field. */
export const supportInvalid = {
  name: 'Please enter your name.',
  email: 'Please enter your email address.',
  phone: 'Please enter a phone number.',
  message: 'Please tell us how we can help.',
  badEmail: 'Please enter a valid email address, such as name@example.com.',
  badPhone: 'Invalid phone number',
  tooLong: (most: number): string => `Please use at most ${most} characters.`,
} as const;

/** Whether support is available. */
export const supportHoursMessages = {
  open: 'We’re online now, until 5 p.m. ET.',
  opensToday: 'We’re offline until 9 a.m. ET today.',
  /** @param when `tomorrow` or `Monday` */
  opens: (when: string): string => `We’re offline until ${when} at 9 a.m. ET.`,
} as const;
