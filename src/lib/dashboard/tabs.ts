/** The tabs of the account (spec section 2, "Account dashboard"). */
export const dashboardTabs = [
  { slug: 'account', name: 'Subscriptions' },
  { slug: 'profile', name: 'Profile' },
  { slug: 'shipping', name: 'Shipping' },
  { slug: 'newsletters', name: 'Newsletters' },
  { slug: 'saved', name: 'Saved' },
  { slug: 'privacy', name: 'Sign-in and data' },
  { slug: 'contact', name: 'Contact' },
] as const;

export type DashboardTab = (typeof dashboardTabs)[number]['slug'];

/** The tab of an address, `null` when there is none. */
export const dashboardTab = (slug: string | undefined): (typeof dashboardTabs)[number] | null =>
  dashboardTabs.find((tab) => tab.slug === slug) ?? null;
