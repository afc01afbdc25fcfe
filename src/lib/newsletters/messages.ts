/** What the newsletters' forms tell a reader. Free of imports: pages and the island use the same sentences. */

/** The form of all choices. */
export const choiceMessages = {
  changed: 'Not saved yet.',
  saving: 'Saving…',
  saved: 'Your choices are saved.',
  signedOut: 'You’re signed out. Sign in in another tab, then save again.',
  unreachable: 'We couldn’t reach the server. Your choices are still here. Please try again.',
  failed: 'We couldn’t save your choices. They’re still here. Please try again.',
  offline: 'You’re offline. You can save your choices when you’re connected again.',
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
