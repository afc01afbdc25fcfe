/** What the site says to users about signing in and their accounts: one object for each part of the site. */
import { accountExists, signInUnavailable } from '../http/feature-messages.ts';
import { common } from '../http/messages.ts';

/** Refusals that routes, forms and pages share; those of spec section 8 are word for word. */
export const accountMessages = {
  invalidEmail: 'Please enter a valid email address.',
  emailMissing: 'Please enter your email address.',
  unknownUser: 'We don’t have an account with this email address.',
  exists: accountExists,
  invalidCode: 'Invalid code. Please check the code and try again.',
  linksByEmail: 'Links are sent by email only.',
  codesByEmail: 'Codes are sent by email only.',
  codeAndEmail: 'Please send an email address and a code.',
  linkUnknown: 'We don’t know this link.',
  linkExpired: 'This link has expired.',
  linkUsed: 'This link has already been used.',
  accountGone: 'This account no longer exists.',
  otherAddress: 'That isn’t this account’s email address. Nothing was deleted.',
  canceled: 'You canceled the sign-in.',
  staleSocial: 'This sign-in has expired. Please try again.',
  failed: common.wrong,
  noSocialEmail: (provider: string) =>
    `${provider} didn’t share your email address with us. Please sign in with your email address instead.`,
  suggestion: (email: string) => `Did you mean ${email}?`,
} as const;

/** Errors of a form, when its page is shown again with `?problem=…`. */
const formProblems = {
  email: 'Please enter a whole email address, such as name@example.com.',
  choice: 'Please choose at least one newsletter.',
  code: accountMessages.invalidCode,
  limited: 'Too many tries. Please wait a few minutes, then try again.',
  expired: 'That took a while. Please enter your email address again.',
  social: 'That sign-in didn’t work. Please try again, or use your email address.',
  off: signInUnavailable,
  confirm: accountMessages.otherAddress,
  paying: 'We’re still processing a payment of yours, so nothing was deleted. Wait a minute, then try again.',
  failed: accountMessages.failed,
} as const;
export type FormProblem = keyof typeof formProblems;

/** The sentence for `?problem=…`; `undefined` when there is none, or an unknown one. */
export const problemText = (name: string | null): string | undefined =>
  name !== null && Object.hasOwn(formProblems, name) ? formProblems[name as FormProblem] : undefined;

/** Messages of successful account calls (spec section 7, docs/services/zephr.md): clients compare them. */
export const wireMessages = {
  login: 'Login successful',
  register: 'Registration successful',
  linkSent: 'Login link sent',
  codeSent: 'Verification code sent',
  codeRight: 'Code is valid',
  userFound: 'User exists',
  profile: 'User profile updated',
  extendedProfile: 'User extended profile updated',
  logout: 'Session deleted',
  forgotten: 'User data deleted',
  state: 'State initialized',
  anonymous: 'Anonymous session created successfully',
  recognized: 'Lookup complete',
} as const;

/** The sign-in panel (spec section 2, "Email login panel"). */
export const signInMessages = {
  label: 'Please enter your email address below:',
  submit: 'Continue',
  busy: 'One moment…',
  sentTo: 'A login link has been sent to',
  address: 'Email address',
  unknownAddress: 'your address',
  edit: 'Edit',
  note: 'Open it on this device or any other. The link works for 10 minutes.',
  question: "Didn't get a link?",
  resend: 'Resend',
  resent: 'Resent!',
  useCode: 'Login with code instead',
  off: 'Sign-in is switched off on this site. You can read every free article without an account.',
} as const;

/** Entering a code (spec section 2, "Code view"). */
export const codeMessages = {
  heading: 'Please check your email.',
  sentTo: 'A verification code was sent to',
  label: 'Verification code, six digits',
  digit: (place: number) => `Digit ${place}`,
  confirm: 'Confirm',
  question: "Didn't get a code?",
  resend: 'Click to resend.',
} as const;

/** The end of a social sign-in. */
export const socialEndMessages = {
  signedIn: 'You’re signed in',
  failed: 'That didn’t work',
  continueReading: 'Continue reading',
  otherWay: 'Sign in another way',
} as const;

/** Messages for rejected values of the profile; the invalid ones as in spec section 8. */
export const profileProblems = {
  invalidPhone: 'Invalid phone number',
  invalidBirthday: 'Invalid date of birth',
  invalidField: 'Invalid profile field',
  invalidValue: (name: string) => `Invalid value for ${name}`,
  tooLong: (name: string) => `The value for ${name} is too long`,
  tooManyFields: 'Too many profile fields',
  invalidApp: 'Invalid app',
  noApp: 'There is no extended profile with this name.',
  tooManyApps: 'Too many apps',
  noData: 'No data',
  tooMuchData: 'Too much data',
} as const;

/** The profile form, after an attempt to save it. */
export const profileMessages = {
  saved: 'Your profile has been saved.',
  saving: 'Saving…',
  failed: 'We couldn’t save your profile. Your changes are still here; try again in a few minutes.',
  offline: 'You’re offline. We didn’t save your profile, but your changes are still here.',
  signedOut: 'You’re signed out. Sign in in another tab, then save again.',
} as const;

export const sessionsMessages = {
  failed: 'We couldn’t sign you out. You’re still signed in; try again.',
} as const;

export const deletionMessages = {
  otherAddress: accountMessages.otherAddress,
  /** Part of the account's data may already be deleted, and the subscription with it. */
  failed: 'We couldn’t delete your account. It’s still there; try again in a minute.',
  signedOut: 'You’re signed out, so nothing was deleted. Sign in, then try again.',
  /** For a reader who was signed out after a deletion request without a response: the account may have been deleted. */
  unsure: 'You’re signed out. We may have deleted your account already; sign in to check.',
} as const;

/** What happens to a subscription when its reader deletes the account; `until` is a day in words. */
export const deletionWarnings = {
  unknown:
    'We can’t see right now whether you have a subscription. If you have one, it ends at once, and nothing is refunded.',
  ends: (plan: string, until: string) =>
    `Your subscription (${plan}) ends at once. Nothing more is charged, and the rest of the time you paid for, until ${until}, is not refunded.`,
  waits: (until: string) => `You’ve already canceled it. If you wait until ${until}, you keep everything you paid for.`,
  cancelFirst: (until: string, several: boolean) =>
    `To keep ${several ? 'what it includes' : 'reading'} until ${until}, cancel it first, and delete your account after it ends.`,
} as const;

/** The page of a mailed link that doesn't sign the reader in, by the kind of failure. */
export const linkMessages = {
  'link-expired': { heading: 'This link has expired', text: 'Links work for 10 minutes. Ask for a new one.' },
  'link-used': {
    heading: 'This link has been used',
    text: 'Each link works once. If you’re not signed in yet, ask for a new one.',
  },
  'link-unknown': {
    heading: 'This link isn’t one of ours',
    text: 'Part of it may be missing. Copy the whole link, or ask for a new one.',
  },
  limited: { heading: 'Too many tries', text: 'Please wait a few minutes, then try again.' },
  failed: { heading: 'Something went wrong', text: 'Please try again.' },
} as const;

/** Where a Zephr tenant has the accounts. */
export const tenantMessages = {
  tooLong: 'The request is too long.',
  slow: 'Sign-in is taking too long right now. Please try again.',
  unavailable: 'Sign-in is unavailable right now. Please try again in a minute.',
} as const;

/** Messages of the sign-in popups (spec section 2). */
export const popupMessages = {
  signIn: 'Sign in or create a free account',
  haveAccount: 'Have an account? Use this form to sign in.',
  welcome: 'Sign up for breaking news and exclusive daily updates',
} as const;
