/** A subscriber's own feed of a series: its address, the page that makes it, and the words of that page. */

export const privateFeedPath = (slug: string, token: string): string => `/podcast/${slug}/private/${token}.xml`;

/** Where a subscriber makes, changes and ends the address. */
export const privateFeedPage = '/account/podcast';
export const privateFeedQuery = 'series';

/** `after`: when the address that the form shows was made, epoch milliseconds, 0 for none. A form that is sent again makes no second address. */
export const privateFeedFields = { action: 'action', after: 'after' } as const;
export type PrivateFeedAction = 'create' | 'revoke';

export const privateFeedMessages = {
  heading: 'Your private feed',
  intro: (title: string): string =>
    `Listen to every episode of ${title} in your podcast app, those for subscribers, too. The address is yours alone: who has it can listen.`,
  subscribersOnly: 'Subscribers get a private feed for their podcast app.',
  subscribe: 'Subscribe',
  create: 'Make an address',
  rotate: 'Make a new address',
  revoke: 'End this address',
  since: (day: string): string => `You made an address on ${day}. We can’t show it again: we don’t keep it.`,
  rotateNote: 'A new address ends the old one.',
  made: 'This is your address. Copy it now and add it to your podcast app: we won’t show it again.',
  label: 'Address of your feed',
  revoked: 'The address is ended. Your app gets nothing from it any more.',
} as const;
