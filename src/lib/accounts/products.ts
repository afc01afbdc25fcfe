/** The paid products: the one list of tiers and their order. Every page loads it; the build writes the publication's ids into it. */
import { publication } from '../../publication.ts';

/** The highest tier last (spec section 4). */
export const products = ['reader', 'member', 'founder'] as const;
export type Product = (typeof products)[number];

/** Names of the products in the account calls and in Stripe's metadata. */
export const productSlugs: Readonly<Record<Product, string>> = publication.plans.ids;
/** Id of a paid product. */
export type TierId = string;

/** The products on sale, the highest last. */
export const soldProducts: readonly Product[] = /* @__PURE__ */ products.filter((product) =>
  publication.plans.sold.includes(product),
);

/** The highest product on sale, above which there is nothing to upgrade to. */
export const highestProduct: Product = soldProducts.at(-1) ?? 'founder';

/** Whether a reader of a product is offered the print edition, which comes with a higher one. */
export const isOfferedPrint = (product: Product | null | undefined): boolean =>
  product === 'reader' && publication.plans.printWith !== null && publication.plans.printWith !== 'reader';

/** Kinds of readers who pay, the highest last; `subscriber`: pays for a product that isn't a tier. */
export const payingKinds = ['subscriber', ...products] as const;

/** Kinds beyond anonymous, the highest last (spec section 6). Without a hint a reader is anonymous. */
export const visitorKinds = ['registered', ...payingKinds] as const;
export type VisitorKind = (typeof visitorKinds)[number];

/** The product with this name in the protocol; `undefined` for unknown names. */
export const productOf = (slug: string): Product | undefined =>
  products.find((product) => productSlugs[product] === slug);

/** Rank of a product by its name in the protocol, from 0 for the lowest tier; -1 for unknown names. */
export const tierRank = (slug: string): number => products.findIndex((product) => productSlugs[product] === slug);

/** Readers who pay for less than the highest product. */
const belowHighest = (): string =>
  payingKinds
    .filter((kind) => kind === 'subscriber' || products.indexOf(kind) < products.indexOf(highestProduct))
    .join(' ');

/** Groups of readers, as values of `data-for` (src/styles/base.css; spec section 6). */
export const seenBy = {
  /** Sign In. */
  anonymous: 'anonymous',
  /** User menu, dashboard. */
  signedIn: /* @__PURE__ */ visitorKinds.join(' '),
  /** Join Today. */
  joinable: 'anonymous registered',
  /** Upgrade: readers who pay for less than the highest tier, a founder's. */
  upgradable: /* @__PURE__ */ belowHighest(),
  paying: /* @__PURE__ */ payingKinds.join(' '),
} as const;
