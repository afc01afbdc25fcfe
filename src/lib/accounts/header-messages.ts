/** Apart from messages.ts, because every page of a signed-in user loads them. */

/** The account menu in the header; memberships as in spec section 4. */
export const headerMessages = {
  account: 'Account',
  yourAccount: 'Your account',
  signOut: 'Sign out',
  signingOut: 'Signing out…',
  membership: {
    registered: 'Free Account',
    subscriber: '',
    reader: 'Sun Reader',
    member: 'Sun Member',
    founder: 'Sun Founder',
  },
} as const;
