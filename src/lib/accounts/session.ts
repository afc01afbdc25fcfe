/** Who is reading, as the browser knows it (spec sections 3 and 6): made from the access details of a decision. */
import { type Product, productSlugs, products, type VisitorKind } from './products.ts';
import type { AccessDetails } from './schema.ts';

export type UserType = 'anonymous' | 'registered' | 'customer';
/** Free articles that are counted. */
export interface Trial {
  readonly id: string;
  readonly totalCredits: number;
  readonly remainingCredits: number;
  /** Whether the trial determines what may be read now. */
  readonly active: boolean;
}

/** A time in which everything may be read. */
export interface TimeTrial {
  readonly id: string;
  /** Start, epoch milliseconds; `null` if the response has no date. */
  readonly startedAt: number | null;
  readonly duration: number;
  /** Unit of `duration`, for instance `HOURS`. */
  readonly unit: string;
  readonly remaining: number;
  readonly active: boolean;
}

export interface Session {
  readonly status: 'loading' | UserType;
  /** The highest product. */
  readonly activeProduct: Product | null;
  /** All products by their names in the protocol. */
  readonly activeProducts: readonly string[];
  readonly isAuthenticated: boolean;
  readonly isFounder: boolean;
  readonly isMember: boolean;
  readonly isReader: boolean;
  readonly isPayingSubscriber: boolean;
  /** Whether any trial or timed trial is active (spec section 6). */
  readonly isTrialing: boolean;
  readonly trials: readonly Trial[];
  readonly timeTrials: readonly TimeTrial[];
}

/** An anonymous reader: also the result of a failed access decision (spec section 4). */
export const anonymousSession: Session = {
  status: 'anonymous',
  activeProduct: null,
  activeProducts: [],
  isAuthenticated: false,
  isFounder: false,
  isMember: false,
  isReader: false,
  isPayingSubscriber: false,
  isTrialing: false,
  trials: [],
  timeTrials: [],
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
  const trials = Object.entries(facts?.trials ?? {}).map(([id, trial]) => ({
    id,
    totalCredits: trial.totalCredits ?? 0,
    remainingCredits: trial.remainingCredits ?? 0,
    active: trial.usedInDecision === true,
  }));
  const timeTrials = Object.entries(facts?.timeTrials ?? {}).map(([id, trial]) => ({
    id,
    startedAt: wireTime(trial.entryTime),
    duration: trial.trialDuration ?? 0,
    unit: trial.trialDurationUnits ?? 'HOURS',
    remaining: trial.timeRemainingInTrial ?? 0,
    active: trial.activeInDecision === true,
  }));
  const isTrialing = [...trials, ...timeTrials].some(({ active }) => active);
  if ((facts?.authenticated ?? facts?.isAuthenticated) !== true) {
    return { ...anonymousSession, isTrialing, trials, timeTrials };
  }
  const activeProducts = Array.isArray(facts?.activeProducts) ? facts.activeProducts.map(String) : [];
  const has = (product: Product) => activeProducts.includes(productSlugs[product]);
  const [isFounder, isMember, isReader] = [has('founder'), has('member'), has('reader')];
  const activeProduct = products.findLast(has) ?? null;
  return {
    status: activeProduct === null ? 'registered' : 'customer',
    activeProduct,
    activeProducts,
    isAuthenticated: true,
    isFounder,
    isMember,
    isReader,
    isPayingSubscriber: activeProduct !== null,
    isTrialing,
    trials,
    timeTrials,
  };
}

/** Epoch milliseconds of a time in the protocol's format, which ends in a Java zone: `2024-02-08T08:48:33.056Z[UTC]`. */
function wireTime(text: string | undefined): number | null {
  const time = Date.parse((text ?? '').replace(/\[[^\]]*\]$/, ''));
  return Number.isNaN(time) ? null : time;
}

/** The value of `data-visitor` for this session; `null`: no attribute. */
export const visitorOf = ({ isAuthenticated, activeProduct }: Session): VisitorKind | null =>
  isAuthenticated ? (activeProduct ?? 'registered') : null;
