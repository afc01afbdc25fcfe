/** Groups of readers that see the same furniture, as values of `data-for` (src/styles/visitor.css; spec section 6). */
export const seenBy = {
  /** Sign In. */
  anonymous: 'anonymous',
  /** User menu, dashboard. */
  signedIn: 'registered subscriber reader member founder',
  /** Join Today. */
  joinable: 'anonymous registered',
  /** Upgrade: who pays and is no founder. */
  upgradable: 'subscriber reader member',
  /** Who pays, for whatever it is. */
  paying: 'subscriber reader member founder',
} as const;
