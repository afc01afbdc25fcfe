/**
 * What somebody may read, as `/zephr/feature-decisions` and `/zephr/decision-engine` say it (vendors.md 1.9 and 1.10). Pure:
 * the same reader gets the same answer.
 */
import type { AccessDetails, DecisionEngineAnswer, FeatureDecisionsAnswer } from '../accounts/wire.ts';

/** What decides: who somebody is, and what they have. */
export interface Standing {
  readonly authenticated: boolean;
  /** Slugs of paid products that run now, such as `sun-member`. */
  readonly activeProducts: readonly string[];
  readonly trials: AccessDetails['trials'];
  readonly timeTrials: AccessDetails['timeTrials'];
}

/** Somebody who has not signed in; also what is fallen back to (spec section 4). */
export const anonymous: Standing = { authenticated: false, activeProducts: [], trials: {}, timeTrials: {} };

/** A reader by their session. */
export const standingOf = (session: object | null): Standing =>
  session === null ? anonymous : { ...anonymous, authenticated: true };

/** The whole of `accessDetails`; what this paper does not meter is empty and never missing. */
export const accessDetails = ({ authenticated, activeProducts, trials, timeTrials }: Standing): AccessDetails => ({
  authenticated,
  accessDecisions: {},
  entitlements: {},
  credits: {},
  meters: {},
  trialTrackingDetails: [],
  trials,
  timeTrials,
  testGroups: {},
  activeProducts,
});

/** Pages of this site bring their own components: no feature has a result to put in their place. */
export const featureDecisions = (standing: Standing): FeatureDecisionsAnswer => ({
  featureResults: {},
  resources: { uiComponents: {} },
  accessDetails: accessDetails(standing),
});

/** `YES` for whoever is signed in. */
export const decide = (standing: Standing, sdkFeatureSlug: string): DecisionEngineAnswer => ({
  sdkFeatureSlug,
  outputType: 'ENUM',
  outputValue: standing.authenticated ? 'YES' : 'NO',
});
