/** The newsletter forms and calls: paths, fields, answers and messages. Pages, islands and routes use these. */
import { publication } from '../../publication.ts';

/** Unsubscribes by a token (RFC 8058). Mail programs post here without an Origin header. */
export const unsubscribePath = '/account/unsubscribe';

/** The form of all choices, for signed-in users. */
export const choicesPath = '/account/mail';

/** The same as a call: `PUT {"choices": ["morning"]}`. */
export const choicesCall = '/api/v1/me/newsletters';

/** Names of the form fields, and of the token's query parameter. */
export const mailFields = { choice: 'choice', token: 't', again: 'again' } as const;

/** Body of PUT, and response of GET and PUT {@link choicesCall}: slugs. */
export interface ChoicesAnswer {
  readonly choices: readonly string[];
}

/** The form of all choices. */
export const choiceMessages = {
  changed: 'Not saved yet.',
  saving: 'Saving…',
  saved: 'Your choices are saved.',
  signedOut: 'You’re signed out. Sign in in another tab, then save again.',
  offline: 'We couldn’t reach the server. Your choices are still here. Please try again.',
  failed: 'We couldn’t save your choices. They’re still here. Please try again.',
  disconnected: 'You’re offline. You can save your choices when you’re connected again.',
} as const;

/** The page that a newsletter's unsubscribe link opens. */
export const unsubscribeMessages = {
  expired: 'This link has expired',
  expiredAdvice: 'It’s too old or incomplete. Sign in to choose your newsletters.',
  ended: 'You’re unsubscribed',
  endedDetail: (name: string): string => `We won’t send you ${name} anymore. Nothing else has changed.`,
  again: 'You’re subscribed again',
  againDetail: (name: string): string => `We’ll send you ${name} again.`,
  ask: (name: string): string => `Unsubscribe from ${name}?`,
  askDetail: 'One click, and we stop sending it. Nothing else changes.',
  failed: 'That didn’t work. Please try again in a minute.',
  undo: 'That was a mistake. Resubscribe me',
  choose: 'Choose your newsletters',
} as const;

/** The island of the sign-up; the first two are the specification's. */
export const signUpMessages = {
  thanks: `Thank you for subscribing to ${publication.name}`,
  nextStep: 'Please check your inbox for a one-click verification link',
  label: 'Email address',
  subscribe: 'Subscribe',
  signUp: 'Sign up',
  busy: 'One moment…',
  open: (provider: string): string => `Open ${provider}`,
} as const;

/** Webmail providers of most readers (spec section 2, "links to three webmail providers"). */
export const webmail = [
  { name: 'Gmail', href: 'https://mail.google.com/mail/u/0/' },
  { name: 'Outlook', href: 'https://outlook.live.com/mail/0/' },
  { name: 'Yahoo Mail', href: 'https://mail.yahoo.com/' },
] as const;
