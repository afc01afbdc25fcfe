/**
 * The account calls that the browser makes (spec section 7; docs/services/zephr.md), as the site's own server and a real Zephr tenant
 * take them. Every function answers with a value and never throws; see {@link Reply}. Calls that a page makes without user
 * interaction are in session-client.ts.
 */
import { ask, type Reply } from '../http/ask.ts';
import type {
  AccountAnswer,
  CreateAnswer,
  CreateBody,
  CredentialsBody,
  DeliveryBody,
  EmailBody,
  ForgetBody,
  GeoAnswer,
  IdentifiersBody,
  MessageAnswer,
  OtpCheckBody,
  ProfileBody,
  SignedInAnswer,
  VerificationAnswer,
} from './schema.ts';
import { codeKeys, tokenExchangeKey } from './service.ts';

/** Proof of who signs in; exactly one is sent. */
export type Proof =
  /** Six digits from a mail. */
  | { readonly code: string }
  /** State key of a social sign-in that has not become an account yet. */
  | { readonly stateKey: string };

export interface SignIn {
  /** Not sent with a state key, which already identifies the address. */
  readonly email?: string | undefined;
  readonly proof: Proof;
}

/** A link or a code that is to be mailed. */
export interface Delivery {
  readonly email: string;
  /** What the link or code may be used for. */
  readonly action: NonNullable<DeliveryBody['action']>;
  /** Path within the site to return to. */
  readonly redirect: string;
}

const identifiers = (email: string): IdentifiersBody => ({ identifiers: { email_address: email } });

/** A 404 is the answer `false`; other refusals stay refusals. */
function known<T>(answer: Reply<T>): Reply<boolean> {
  if (answer.ok) return { ...answer, value: true };
  return answer.status === 404 ? { ok: true, status: 404, value: false } : answer;
}

/** Whether this address has an account. */
export const userExists = async (email: string): Promise<Reply<boolean>> =>
  known(await ask('/zephr/media/user/info', { body: identifiers(email) }));

/** Whether an address can receive mail: its syntax and domain, disposable hosts, likely typing errors. */
export const verifyEmail = (email: string): Promise<Reply<VerificationAnswer>> =>
  ask('/api/verification', { body: { email } satisfies EmailBody });

/** Sends both formats that servers accept: flat, and within `delivery` (docs/services/zephr.md). */
const deliveryBody = ({ email, action, redirect }: Delivery): DeliveryBody => ({
  ...identifiers(email),
  action,
  method: 'email',
  redirect,
  delivery: { method: 'email', destination: email, action, redirect },
});

/** Mails a link. */
export const sendLink = (delivery: Delivery): Promise<Reply<MessageAnswer | null>> =>
  ask('/blaize/token-exchange', { body: deliveryBody(delivery) });

/** Mails a six-digit code; `false` where the address has no account. */
export const sendCode = async (delivery: Delivery): Promise<Reply<boolean>> =>
  known(await ask('/blaize/two-factor-authentication', { body: deliveryBody(delivery) }));

/** Whether a code is right; status 400 or higher means no. Checking a right code doesn't use it up. */
export const checkCode = (email: string, code: string): Promise<Reply<MessageAnswer | null>> =>
  ask('/zephr/media/user/otp-check', { body: { code, email } satisfies OtpCheckBody });

/**
 * Key of `validators` for a code, as stated by the page (layouts/Base.astro): a Zephr tenant has its own, or none.
 *
 * @returns `null` where there are no codes
 */
export const codeKey = (): string | null => {
  // The server draws the first state of a screen, which doesn't depend on it.
  const codes = typeof document === 'undefined' ? undefined : document.documentElement.dataset.codes;
  return codes === undefined ? codeKeys[0] : codes || null;
};

const credentials = ({ email, proof }: SignIn): CredentialsBody =>
  'stateKey' in proof
    ? { attributes: {}, identifiers: {}, validators: { [tokenExchangeKey]: proof.stateKey } }
    : { attributes: {}, identifiers: { email_address: email }, validators: { [codeKey() ?? codeKeys[0]]: proof.code } };

/** Signs in: 401 is a wrong proof, 404 an unknown reader. The answer sets the cookies by itself. */
export const login = (signIn: SignIn): Promise<Reply<SignedInAnswer>> =>
  ask('/blaize/login', { body: credentials(signIn) });

/** Creates an account and signs in: 409 means that there is one already. */
export const register = (signIn: SignIn): Promise<Reply<SignedInAnswer>> =>
  ask('/blaize/register', { body: credentials(signIn) });

/** Creates an account from only an address and mails a link to confirm it. Doesn't sign in. */
export const createUser = (email: string): Promise<Reply<CreateAnswer>> =>
  ask('/api/zephr-create', { body: { email } satisfies EmailBody });

/** As {@link createUser}, and signs in to the new account, for a user who is about to pay. */
export const createAndEnter = (email: string): Promise<Reply<CreateAnswer>> =>
  ask('/api/zephr-create', { body: { email, enter: true } satisfies CreateBody });

/** The user who is signed in; 401 without a session. */
export const account = (): Promise<Reply<AccountAnswer>> => ask('/blaize/account');

/** Attributes that aren't named stay unchanged. */
export const saveProfile = (attributes: ProfileBody): Promise<Reply<MessageAnswer | null>> =>
  ask('/blaize/profile', { body: attributes });

/** Deletes the account of the user who is signed in. @param email typed to confirm; 409 if it belongs to another account */
export const forgetMe = (email: string): Promise<Reply<MessageAnswer | null>> =>
  ask('/blaize/forget-me', { body: { email } satisfies ForgetBody });

/** The reader's place, as far as the network address shows it. */
export const geo = (): Promise<Reply<GeoAnswer>> => ask('/api/geo');
