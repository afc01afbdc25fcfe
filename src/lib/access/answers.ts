/**
 * A decision as `/zephr/feature-decisions` and `/zephr/decision-engine` say it (docs/services/zephr.md). Pure: the same view gets
 * the same answer.
 */

import { highestProduct, isOfferedPrint, productSlugs } from '../accounts/products.ts';
import type { AccessDetails, DecisionEngineAnswer, FeatureDecisionsAnswer } from '../accounts/schema.ts';
import { decide, type Rule, type Subject } from './decide.ts';
import type { Entitlements, Trial } from './entitlements.ts';
import type { MeterReading } from './meter.server.ts';

/** The facts of one request. */
export interface View {
  readonly entitlements: Entitlements;
  /** Path that is read, without its query. */
  readonly path: string;
  readonly subject: Subject;
  /** Whether the browser holds a gift of this article. */
  readonly gift: boolean;
  /** The reader's meter. Anonymous readers are metered in their browser, so the server always sees articles left. */
  readonly meter: MeterReading;
  /** How many links a subscriber can give away in total, and how many are left; `null` for other readers. */
  readonly gifts: { readonly most: number; readonly left: number } | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The access rule for these facts. */
export const ruleFor = ({ entitlements, subject, gift, meter }: Omit<View, 'path' | 'gifts' | 'now'>): Rule =>
  decide({
    subject,
    authenticated: entitlements.authenticated,
    paying: entitlements.products.length > 0,
    promotion: entitlements.promotion !== null,
    timed: entitlements.timed !== null,
    gift,
    // If this decision counted the article, the rule from before the count still applies.
    meter: meter.state,
  });

const asks = { nothing: 'NONE', registration: 'REGISTER', subscription: 'SUBSCRIBE' } as const;
const yesNo = (yes: boolean): string => (yes ? 'YES' : 'NO');
const isPaying = ({ entitlements }: View): boolean => entitlements.products.length > 0;

/**
 * What the decision engine answers, by the name of the feature. Any other name: whether the reader is signed in.
 *
 * - `article-access`: `FULL` or `OPENING`: how much of the article at `path` may be read.
 * - `paywall`: `NONE`; `REGISTER` or `SUBSCRIBE`, what the end of the public part asks for; `SOFT_REGISTER` or
 *   `SOFT_SUBSCRIBE`, what is asked for over a text that is public.
 * - `meter`: how many articles are left, or `UNLIMITED`.
 * - `print-upsell`: `YES` for readers of the lowest tier, where a higher one has the print edition, on the home page and on articles (spec section 2).
 * - `ads`: `NO` for paying readers (spec section 2, "Header").
 * - `join`: `JOIN`, `UPGRADE` for paying readers, `NONE` for the highest tier, a founder's (spec section 6).
 * - `gift`: `YES` where the reader may give this article away.
 */
const features: Readonly<Record<string, (view: View, rule: Rule) => string>> = {
  'article-access': (_, { outcome }) => (outcome.body === 'whole' ? 'FULL' : 'OPENING'),
  paywall: (_, { outcome }) => `${outcome.paywall === 'soft' ? 'SOFT_' : ''}${asks[outcome.ask]}`,
  meter: (view) => (isPaying(view) || view.entitlements.timed ? 'UNLIMITED' : String(view.meter.remaining)),
  'print-upsell': ({ entitlements, path }) =>
    yesNo(isOfferedPrint(entitlements.products[0]) && (path === '/' || path.includes('/article'))),
  ads: (view) => yesNo(!isPaying(view)),
  join: (view) => (view.entitlements.products[0] === highestProduct ? 'NONE' : isPaying(view) ? 'UPGRADE' : 'JOIN'),
  gift: (view) =>
    yesNo(isPaying(view) && (view.gifts?.left ?? 0) > 0 && !['none', 'free', 'default'].includes(view.subject)),
};

/** One decision by the name of its feature. */
export const featureValue = (view: View, sdkFeatureSlug: string): DecisionEngineAnswer => ({
  sdkFeatureSlug,
  outputType: 'ENUM',
  outputValue: Object.hasOwn(features, sdkFeatureSlug)
    ? (features[sdkFeatureSlug]?.(view, ruleFor(view)) ?? '')
    : yesNo(view.entitlements.authenticated),
});

const hour = 60 * 60 * 1000;

function timeTrial({ startedAt, endsAt }: Trial, now: number): AccessDetails['timeTrials'][string] {
  const began = startedAt ?? now;
  return {
    reportInDataLayer: false,
    trialDurationUnits: 'HOURS',
    trialDuration: Math.max(0, Math.round((endsAt - began) / hour)),
    // The protocol's times end in a Java zone.
    entryTime: `${new Date(began).toISOString()}[UTC]`,
    trackerHits: 0,
    timeRemainingInTrial: Math.max(0, Math.ceil((endsAt - now) / hour)),
    // Also on a page that didn't need it: a trial is a state of the reader (spec section 6, "Trialing").
    activeInDecision: true,
  };
}

/** All fields of `accessDetails`; those that don't apply are empty, never missing. */
export function accessDetails(view: View): AccessDetails {
  const { entitlements, meter, gifts, now } = view;
  const { by, body } = ruleFor(view).outcome;
  const isSubscriber = by === 'subscriber' || by === 'trialing';
  const highest = entitlements.products[0];
  const use = (usedInDecision: boolean) => ({ usedInDecision, decrementedInDecision: false });
  const metered = entitlements.products.length === 0 && entitlements.timed === null;
  const meterUsed = view.subject === 'default' && by === null;
  return {
    authenticated: entitlements.authenticated,
    accessDecisions: view.subject === 'none' ? {} : { 'article-access': body === 'whole' },
    entitlements: {
      ...Object.fromEntries(
        entitlements.products.map((product) => [productSlugs[product], use(isSubscriber && product === highest)]),
      ),
      ...(entitlements.authenticated && { registered: use(by === 'registered') }),
    },
    credits: gifts ? { gifts: { ...use(false), totalCredits: gifts.most, remainingCredits: gifts.left } } : {},
    meters: metered
      ? {
          articles: {
            usedInDecision: meterUsed,
            decrementedInDecision: meter.counted,
            totalCredits: meter.total,
            remainingCredits: meter.remaining,
          },
        }
      : {},
    trialTrackingDetails: [],
    trials: {},
    timeTrials: {
      ...(entitlements.promotion && { promotion: timeTrial(entitlements.promotion, now) }),
      ...(entitlements.timed && { registration: timeTrial(entitlements.timed, now) }),
    },
    testGroups: {},
    activeProducts: entitlements.products.map((product) => productSlugs[product]),
  };
}

/** This site's pages have their own components, so no feature returns markup. */
export const featureDecisions = (view: View): FeatureDecisionsAnswer => ({
  featureResults: {},
  resources: { uiComponents: {} },
  accessDetails: accessDetails(view),
});
