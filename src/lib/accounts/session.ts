/** Who is reading, as the browser knows it (spec sections 3 and 6): made from the access details of a decision. */
import { type Product, productSlugs, products, type VisitorKind } from './products.ts';
import type { AccessDetails } from './schema.ts';

export type UserType = 'anonymous' | 'registered' | 'customer';

export interface Session {
  readonly status: 'loading' | UserType;
  /** The highest product. */
  readonly activeProduct: Product | null;
  readonly isAuthenticated: boolean;
  readonly isFounder: boolean;
  readonly isMember: boolean;
  readonly isReader: boolean;
  readonly isPayingSubscriber: boolean;
  /** Whether any trial or timed trial is active (spec section 6). */
  readonly isTrialing: boolean;
}

/** An anonymous reader: also the result of a failed access decision (spec section 4). */
export const anonymousSession: Session = {
  status: 'anonymous',
  activeProduct: null,
  isAuthenticated: false,
  isFounder: false,
  isMember: false,
  isReader: false,
  isPayingSubscriber: false,
  isTrialing: false,
};

/** Until the server has answered. */
export const loadingSession: Session = { ...anonymousSession, status: 'loading' };

/** The access details of a decision. The vendor's browser script adds `isAuthenticated` (docs/services/zephr.md). */
export type AccessFacts = Partial<Pick<AccessDetails, 'authenticated' | 'activeProducts'>> & {
  readonly isAuthenticated?: boolean;
  readonly trials?: Readonly<Record<string, Partial<AccessDetails['trials'][string]>>>;
  readonly timeTrials?: Readonly<Record<string, Partial<AccessDetails['timeTrials'][string]>>>;
};

/** The session that access details describe; anonymous for `null` and invalid values. */
export function sessionOf(facts: AccessFacts | null | undefined): Session {
  const isTrialing =
    Object.values(facts?.trials ?? {}).some((trial) => trial.usedInDecision === true) ||
    Object.values(facts?.timeTrials ?? {}).some((trial) => trial.activeInDecision === true);
  if ((facts?.authenticated ?? facts?.isAuthenticated) !== true) {
    return { ...anonymousSession, isTrialing };
  }
  const activeProducts = Array.isArray(facts?.activeProducts) ? facts.activeProducts.map(String) : [];
  const has = (product: Product) => activeProducts.includes(productSlugs[product]);
  const [isFounder, isMember, isReader] = [has('founder'), has('member'), has('reader')];
  const activeProduct = products.findLast(has) ?? null;
  return {
    status: activeProduct === null ? 'registered' : 'customer',
    activeProduct,
    isAuthenticated: true,
    isFounder,
    isMember,
    isReader,
    isPayingSubscriber: activeProduct !== null,
    isTrialing,
  };
}

/** The value of `data-visitor` for this session; `null`: no attribute. */
export const visitorOf = ({ isAuthenticated, activeProduct }: Session): VisitorKind | null =>
  isAuthenticated ? (activeProduct ?? 'registered') : null;
