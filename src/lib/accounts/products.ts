/** The paid products: the one list of tiers and their order. It imports nothing, because every page loads it. */

/** The highest tier last (spec section 4). */
export const products = ['reader', 'member', 'founder'] as const;
export type Product = (typeof products)[number];

/** Names of the products in the account calls and in Stripe's metadata. */
export const productSlugs = {
  reader: 'sun-reader',
  member: 'sun-member',
  founder: 'sun-founder',
} as const satisfies Record<Product, string>;
export type TierId = (typeof productSlugs)[Product];

/** Kinds of readers who pay, the highest last; `subscriber`: for something that is no tier. */
export const payingKinds = ['subscriber', ...products] as const;

/** Kinds beyond anonymous, the highest last (spec section 6). Without a hint a reader is anonymous. */
export const visitorKinds = ['registered', ...payingKinds] as const;
export type VisitorKind = (typeof visitorKinds)[number];

/** The product with a name on the wire; `undefined` for unknown names. */
export const productOf = (slug: string): Product | undefined =>
  products.find((product) => productSlugs[product] === slug);

/** Rank of a product by its name on the wire, from 0 for the lowest tier; -1 for unknown names. */
export const tierRank = (slug: string): number => products.findIndex((product) => productSlugs[product] === slug);

const except = (kind: Product): string => payingKinds.filter((each) => each !== kind).join(' ');

/** Groups of readers, as values of `data-for` (src/styles/base.css; spec section 6). */
export const seenBy = {
  /** Sign In. */
  anonymous: 'anonymous',
  /** User menu, dashboard. */
  signedIn: /* @__PURE__ */ visitorKinds.join(' '),
  /** Join Today. */
  joinable: 'anonymous registered',
  /** Upgrade: readers who pay and are no founders. */
  upgradable: /* @__PURE__ */ except('founder'),
  paying: /* @__PURE__ */ payingKinds.join(' '),
} as const;
