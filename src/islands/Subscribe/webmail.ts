/** Where most readers have their mail (spec section 2, "links to three webmail providers"). */
export const webmail = [
  { name: 'Gmail', href: 'https://mail.google.com/mail/u/0/' },
  { name: 'Outlook', href: 'https://outlook.live.com/mail/0/' },
  { name: 'Yahoo Mail', href: 'https://mail.yahoo.com/' },
] as const;
