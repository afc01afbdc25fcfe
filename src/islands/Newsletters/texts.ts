/** What a reader is told after signing up (spec section 2, "Sticky subscribe footer"). */
import { publication } from '../../publication.ts';

export const thanks = `Thank you for subscribing to ${publication.name}`;
export const nextStep = 'Please check your inbox for a one-click verification link';

/** Where most readers have their mail (spec section 2, "links to three webmail providers"). */
export const webmail = [
  { name: 'Gmail', href: 'https://mail.google.com/mail/u/0/' },
  { name: 'Outlook', href: 'https://outlook.live.com/mail/0/' },
  { name: 'Yahoo Mail', href: 'https://mail.yahoo.com/' },
] as const;
