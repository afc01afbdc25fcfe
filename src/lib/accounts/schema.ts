/**
 * Requests and responses of the account calls, one schema each (spec section 7; docs/services/zephr.md where the spec is silent).
 * Routes parse with the schemas. Islands import only the types (`import type`), so that no schema gets into a bundle.
 *
 * Request schemas accept unknown keys: other clients of this protocol send more than we read.
 */
import { z } from 'zod';
import type { Verification } from '../email-verification/model.ts';
import { returnPath } from '../http/origin.ts';
import {
  type Caller,
  type Credentials,
  codeKeys,
  type Delivery,
  type Profile,
  type Purpose,
  type SessionSummary,
  tokenExchangeKey,
} from './service.ts';

/** Longest email address that is parsed; RFC 5321 allows 254. */
const address = z.string().trim().min(3).max(320);
/** Where to return to: a path, or a full URL of this site. Anything else counts as `/`. */
const target = z.string().max(2048);
const scalar = z.union([z.string().max(4000), z.number(), z.boolean()]);
/**
 * One level of scalar values (docs/services/zephr.md); nested values are rejected. `null`, which an empty form field becomes, means the
 * same as an empty string.
 */
const attributes = z.record(z.string().min(1).max(64), scalar.nullable());
const action = z.enum(['login', 'register', 'completeRegistration']) satisfies z.ZodType<Purpose>;

const identifiers = z.looseObject({ email_address: address });

/** The proofs that `/blaize/login` and `/blaize/register` take. */
const validators = z.looseObject({
  ...(Object.fromEntries(codeKeys.map((key) => [key, z.string().max(64).optional()])) as Record<
    (typeof codeKeys)[number],
    z.ZodOptional<z.ZodString>
  >),
  /** State key of a social sign-in. */
  [tokenExchangeKey]: z.string().min(1).max(512).optional(),
});

/** POST /blaize/login and /blaize/register. With `token_exchange`, `identifiers` is `{}` or left out. */
export const credentialsBody = z.looseObject({
  identifiers: z.looseObject({ email_address: address.optional() }).optional(),
  validators,
  attributes: attributes.optional(),
});
export type CredentialsBody = z.infer<typeof credentialsBody>;

/**
 * POST /blaize/token-exchange and /blaize/two-factor-authentication, in all the shapes there are: flat (docs/services/zephr.md),
 * with `delivery` (the spec's, B), and both at once, which is what our own screens send.
 */
export const deliveryBody = z.looseObject({
  identifiers: identifiers,
  action: action.optional(),
  method: z.string().max(32).optional(),
  redirect: target.optional(),
  delivery: z
    .looseObject({
      action: action.optional(),
      method: z.string().max(32).optional(),
      destination: z.string().max(320).optional(),
      redirect: target.optional(),
    })
    .optional(),
});
export type DeliveryBody = z.infer<typeof deliveryBody>;

/** POST /zephr/media/user/info and /zephr/recognise-me. */
export const identifiersBody = z.looseObject({ identifiers });
export type IdentifiersBody = z.infer<typeof identifiersBody>;

/** POST /zephr/media/user/otp-check. */
export const otpCheckBody = z.looseObject({ email: address, code: z.string().max(64) });
export type OtpCheckBody = z.infer<typeof otpCheckBody>;

/** POST /api/zephr-create and /api/verification. */
export const emailBody = z.looseObject({ email: z.string().trim().min(1).max(320) });
export type EmailBody = z.infer<typeof emailBody>;

/** POST /api/zephr-create: as {@link emailBody}; with `enter`, which the paywall sends, the new reader is signed in at once. */
export const createBody = emailBody.extend({ enter: z.boolean().optional() });
export type CreateBody = z.infer<typeof createBody>;

/** POST, PATCH and PUT /blaize/profile. */
export const profileBody = attributes;
export type ProfileBody = z.infer<typeof profileBody>;

/** POST /blaize/logout; without a body only this device is signed out. */
export const logoutBody = z.looseObject({
  where: z.enum(['JUST_HERE', 'THIS_DEVICE', 'OTHER_DEVICES', 'EVERYWHERE']).default('THIS_DEVICE'),
});
export type LogoutBody = z.input<typeof logoutBody>;

/** POST /blaize/forget-me. With an address, the account is deleted only if the address is its own. */
export const forgetBody = z.looseObject({ email: z.string().max(320).optional() });
export type ForgetBody = z.infer<typeof forgetBody>;

/** POST /blaize/oauth/state. */
export const oauthStateBody = z.looseObject({ start_url: target.optional(), target_url: target.optional() });

/** POST /zephr/feature-decisions. */
export const featureDecisionsBody = z.looseObject({
  featureIds: z.array(z.string().max(200)).max(100),
  path: target.optional(),
  giftToken: z.string().max(200).optional(),
  session: z.string().max(200).optional(),
});
export type FeatureDecisionsBody = z.infer<typeof featureDecisionsBody>;

/** POST /zephr/decision-engine and /api/zephr/decision-engine. */
export const decisionEngineBody = z.looseObject({
  sdkFeatureSlug: z.string().min(1).max(200),
  path: target.optional(),
  giftToken: z.string().max(200).optional(),
  /** Decides without counting. */
  dryRunMode: z.boolean().optional(),
  session: z.string().max(200).nullish(),
});
export type DecisionEngineBody = z.infer<typeof decisionEngineBody>;

/** The answer of a call that returns nothing else. */
export interface MessageAnswer {
  readonly message: string;
}

/** 200 of /blaize/login and /blaize/register. */
export interface SignedInAnswer {
  /**
   * The readable hint cookie as a complete `Set-Cookie` line without `HttpOnly`; assigning it to `document.cookie` changes
   * nothing. The session cookie is only in the `Set-Cookie` header.
   */
  readonly cookie: string;
  /** `Login successful` or `Registration successful`. */
  readonly message: string;
  readonly tracking_id: string;
}

/** 200 of GET /blaize/account; 401 without a session. */
export interface AccountAnswer {
  readonly identifiers: { readonly email_address: string };
  readonly tracking_id: string;
  readonly profile: Readonly<Record<string, string | number | boolean>>;
}

/** 200 of GET /zephr/media/user/session; 401 without a session. */
export interface UserSessionAnswer {
  readonly identifiers: { readonly email_address: string };
  readonly tracking_id: string;
  readonly authenticated: true;
}

/** What the popup of a social sign-in posts to the page that opened it (docs/services/zephr.md). */
export type SocialMessage =
  | { readonly action: 'login'; readonly cookie: string }
  | { readonly action: 'register'; readonly identifier: string; readonly stateKey: string }
  | { readonly action: 'failure'; readonly message: string };

/** 200 of POST /api/zephr-create. */
export interface CreateAnswer {
  readonly sessionId: string;
}

/** 200 of POST /api/verification (spec section 3, "Verification result"). */
export type VerificationAnswer = Verification;

/** 200 of GET /api/geo. */
export interface GeoAnswer {
  /** Two capital letters (ISO 3166-1 alpha-2); `null` when unknown. */
  readonly country: string | null;
  readonly city: string | null;
  /** The browser's network address as the site sees it; saves clients a request to a trace service. */
  readonly ip: string;
}

/** 200 of GET /api/v1/me/repair; 401 without a session. */
export interface RepairAnswer {
  readonly repaired: boolean;
}

/** 201 of POST /blaize/anonymous-session. */
export interface AnonymousAnswer {
  readonly message: string;
  readonly tracking_id: string;
}

/** 200 of GET /api/v1/me/sessions; 401 without a session. Times are epoch milliseconds. */
export interface SessionsAnswer {
  readonly sessions: readonly SessionSummary[];
}

interface Use {
  readonly usedInDecision: boolean;
  readonly decrementedInDecision: boolean;
}
interface Metered extends Use {
  readonly totalCredits: number;
  readonly remainingCredits: number;
}

/** What a reader may read, and why (docs/services/zephr.md). */
export interface AccessDetails {
  readonly authenticated: boolean;
  readonly accessDecisions: Readonly<Record<string, boolean>>;
  readonly entitlements: Readonly<Record<string, Use>>;
  readonly credits: Readonly<Record<string, Metered>>;
  readonly meters: Readonly<Record<string, Metered>>;
  readonly trialTrackingDetails: readonly {
    readonly entitlementId: string;
    readonly entitlementType: string;
    readonly trackCreditsUsed: boolean;
    readonly trackCreditsRemaining: boolean;
    readonly creditsUsedKey: string;
    readonly creditsRemainingKey: string;
  }[];
  readonly trials: Readonly<
    Record<
      string,
      Metered & {
        readonly tracker: string;
        readonly reportInDataLayer: boolean;
        readonly dataLayerCreditsUsedKey: string;
        readonly dataLayerCreditsRemainingKey: string;
      }
    >
  >;
  readonly timeTrials: Readonly<
    Record<
      string,
      {
        readonly reportInDataLayer: boolean;
        readonly trialDurationUnits: 'HOURS' | (string & {});
        readonly trialDuration: number;
        /** Followed by a Java zone: `2024-02-08T08:48:33.056Z[UTC]`. */
        readonly entryTime: string;
        readonly trackerHits: number;
        readonly timeRemainingInTrial: number;
        readonly activeInDecision: boolean;
      }
    >
  >;
  readonly testGroups: Readonly<Record<string, string>>;
  /** `sun-founder`, `sun-member`, `sun-reader`. */
  readonly activeProducts: readonly string[];
}

/** 200 of POST /zephr/feature-decisions, with or without a session. */
export interface FeatureDecisionsAnswer {
  readonly featureResults: Readonly<Record<string, string>>;
  readonly resources: { readonly uiComponents: Readonly<Record<string, string>> };
  readonly accessDetails: AccessDetails;
}

/** 200 of POST /zephr/decision-engine; with `?raw=true` only the value. */
export interface DecisionEngineAnswer {
  readonly sdkFeatureSlug: string;
  readonly outputType: 'ENUM';
  readonly outputValue: string;
}

// Converts request bodies in all their formats to parameters of the account service.

/** The parameters, or what is wrong with the body, as a sentence. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const wrong = (message: string): { ok: false; message: string } => ({ ok: false, message });

/**
 * The credentials of `/blaize/login` and `/blaize/register`. A state key replaces the address; a code is accepted under any of
 * {@link codeKeys}.
 */
export function credentialsOf(body: CredentialsBody, caller: Caller): Parsed<Credentials> {
  const { validators } = body;
  const email = body.identifiers?.email_address;
  const stateKey = validators[tokenExchangeKey];
  const key = codeKeys.find((name) => validators[name]);
  const attributes = body.attributes && profileOf(body.attributes);
  const more = { caller, ...(attributes && { attributes }) };
  if (stateKey) return { ok: true, value: { stateKey, ...more } };
  if (!key) return wrong('validators hold no code.');
  if (!email) return wrong('identifiers.email_address is missing or not valid.');
  return { ok: true, value: { email, code: validators[key] ?? '', ...more } };
}

/**
 * What to mail, from either format or both; if they differ the flat one counts (docs/services/zephr.md).
 *
 * @param siteUrl origin of the site; a redirect may be a full URL of this origin
 */
export function deliveryOf(body: DeliveryBody, siteUrl: string, caller: Caller): Parsed<Delivery & { method: string }> {
  const { identifiers, delivery } = body;
  const email = identifiers.email_address;
  const purpose = body.action ?? delivery?.action;
  if (!purpose) return wrong('action is missing or not valid.');
  const destination = delivery?.destination?.trim();
  if (destination && destination.toLowerCase() !== email.toLowerCase()) {
    return wrong('delivery.destination is another address than identifiers.email_address.');
  }
  const method = body.method ?? delivery?.method ?? 'email';
  const redirect = returnPath(body.redirect ?? delivery?.redirect, siteUrl);
  return { ok: true, value: { email, purpose, redirect, caller, method } };
}

/** Key of a profile body that holds a proof and isn't an attribute (docs/services/zephr.md). */
const validatorKey = 'blaize-validator';

/** Attributes; an empty form field may arrive as `null`. */
export const profileOf = (body: ProfileBody): Profile =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== validatorKey)
      .map(([name, value]) => [name, value ?? '']),
  );
