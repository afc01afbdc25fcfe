/**
 * The account service, as routes and pages see it (spec section 7). Failures that a visitor can cause are return values;
 * exceptions are faults of ours or of the database.
 */
import type { RestrictedLevel } from '../content/model.ts';
import type { providers } from './model.ts';

/** Keys of `validators` under which a six-digit code is accepted; our own screens send the first. */
export const codeKeys = ['code', 'email_otp', 'otp'] as const;

/** Key of `validators` for a social sign-in that has not become an account yet. */
export const tokenExchangeKey = 'token_exchange';

/** Where a call comes from: for limits, the audit trail and the reader's list of sessions. */
export interface Caller {
  /** Network address, behind proxies the one that they report. */
  readonly address: string;
  readonly userAgent: string | null;
  /** The request's `Cookie` header: signing in ends the browser's previous session. */
  readonly cookies?: string | null;
}

/** What a link or a code was requested for; it can't be used for anything else. */
export type Purpose = 'login' | 'register' | 'completeRegistration';

export type Provider = (typeof providers)[number];

export type Failure =
  | { readonly kind: 'unknown-user' }
  | { readonly kind: 'exists' }
  /** Wrong, expired, used or never sent: callers can't tell which. */
  | { readonly kind: 'invalid-code' }
  | { readonly kind: 'link-unknown' | 'link-expired' | 'link-used' }
  | { readonly kind: 'invalid-email'; readonly message: string; readonly suggestion: string | null }
  | { readonly kind: 'invalid'; readonly message: string }
  /** A limit is exceeded; `retryAfter` in whole seconds, at least 1. */
  | { readonly kind: 'limited'; readonly retryAfter: number };

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Public id of the user, a UUID (the protocol's `tracking_id`). */
  readonly trackingId: string;
  readonly email: string;
  readonly emailVerified: boolean;
}

export interface SignedIn {
  readonly session: Session;
  /** Whether this call created the account. */
  readonly created: boolean;
  /** Complete `Set-Cookie` values: session, tracking id, visitor hint, access. */
  readonly cookies: readonly string[];
}

/** One level of scalar values, as in the protocol (docs/services/zephr.md). */
export type Profile = Readonly<Record<string, string | number | boolean>>;

export interface SessionSummary {
  readonly id: string;
  readonly current: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** For instance `Chrome on Windows`. */
  readonly device: string;
}

/** How a user proves an address: by a state key, or else by address and code. */
export interface Credentials {
  /** State key of a social sign-in that has not become an account yet. */
  readonly stateKey?: string;
  readonly email?: string;
  /** Six digits. */
  readonly code?: string;
  /** Attributes for the profile, one level. */
  readonly attributes?: Profile;
  readonly caller: Caller;
}

export interface Delivery {
  readonly email: string;
  readonly purpose: Purpose;
  /** Path within the site to come back to; anything else becomes `/`. */
  readonly redirect: string;
  readonly caller: Caller;
  /** Whether the caller has checked that the address can receive mail; the check costs time and a paid look-up. */
  readonly isVerified?: boolean;
}

export interface CreateOptions {
  /** Path within the site that the link leads to; by default `/`. */
  readonly redirect?: string;
  /** Opens a session of the new account. */
  readonly enter?: boolean;
}

/** The end of a social sign-in, as the popup reports it (docs/services/zephr.md). */
export type SocialEnd =
  | { readonly action: 'login'; readonly signedIn: SignedIn; readonly returnTo: string }
  | { readonly action: 'register'; readonly identifier: string; readonly stateKey: string; readonly returnTo: string }
  | {
      readonly action: 'failure';
      readonly message: string;
      readonly returnTo: string;
      /** Cookies to set with the response. */
      readonly cookies: readonly string[];
    };

export interface Accounts {
  /** Whether there is a user with this address. Limited, because the answer shows strangers who has an account. */
  exists(email: string, caller: Caller): Promise<Outcome<boolean>>;
  /** Mails a link. For a `login` of an unknown user the outcome is `unknown-user`. */
  sendLink(delivery: Delivery): Promise<Outcome<null>>;
  /** Mails a six-digit code. */
  sendCode(delivery: Delivery): Promise<Outcome<null>>;
  /** Whether the code is right. A wrong code counts as a guess; a right one isn't used up. */
  checkCode(email: string, code: string, caller: Caller): Promise<Outcome<null>>;
  login(credentials: Credentials): Promise<Outcome<SignedIn>>;
  /** The outcome is `exists` if there is such a user already. */
  register(credentials: Credentials): Promise<Outcome<SignedIn>>;
  /**
   * Creates an account from only an address and mails a link to confirm it. With `enter` it also signs in, for a user who is about to
   * pay. That is safe: the new account is empty, and when the address is proven later, that session ends.
   */
  create(email: string, caller: Caller, options?: CreateOptions): Promise<Outcome<{ readonly signedIn?: SignedIn }>>;
  /** What a link would do, without using it: mail scanners open links too. */
  peekLink(
    token: string,
  ): Promise<Outcome<{ readonly email: string; readonly purpose: Purpose; readonly redirect: string }>>;
  useLink(token: string, caller: Caller): Promise<Outcome<SignedIn & { readonly redirect: string }>>;

  /** Providers with configured credentials. */
  readonly providers: readonly Provider[];
  /**
   * Where to send the browser, and the cookies that identify it when it returns. @param cookies the request's `Cookie` header
   */
  beginSocial(
    provider: Provider,
    returnTo: string,
    cookies: string | null,
  ): Promise<{ readonly location: string; readonly cookies: readonly string[] }>;
  /** @param url the whole address that the provider sent the browser to; @param cookies the request's `Cookie` header */
  finishSocial(provider: Provider, url: URL, cookies: string | null, caller: Caller): Promise<SocialEnd>;

  /**
   * Who a `Cookie` header belongs to. `cookies`: cookies to set (a session that was extended, an access cookie that was renewed).
   *
   * @param extend whether an old session is extended, by the reader's level; not if the cookies may not be sent, because the browser's
   *   would then expire although the session goes on
   */
  session(
    cookieHeader: string | null,
    extend?: (level: RestrictedLevel) => boolean,
  ): Promise<{ readonly session: Session | null; readonly cookies: readonly string[] }>;
  /**
   * Complete `Set-Cookie` values for the reader's current access: the visitor hint and the access cookie. For responses that
   * change the access, such as to a payment; {@link Accounts.session} adds them by itself if the browser's are out of date.
   * None once the session has ended.
   */
  accessCookies(session: Session): Promise<readonly string[]>;
  /** Cookies that remove all account cookies from a browser. */
  readonly signedOutCookies: readonly string[];
  logout(session: Session, where: 'EVERYWHERE' | 'OTHER_DEVICES' | 'THIS_DEVICE'): Promise<readonly string[]>;
  sessions(session: Session): Promise<readonly SessionSummary[]>;

  profile(session: Session): Promise<Profile>;
  /** @param how `merge` keeps what is not named, `replace` does not */
  saveProfile(session: Session, profile: Profile, how: 'merge' | 'replace'): Promise<Outcome<null>>;
  extendedProfile(session: Session, app: string): Promise<unknown>;
  saveExtendedProfile(session: Session, app: string, value: unknown): Promise<Outcome<null>>;

  /** All data stored about a reader, for the reader. */
  exportData(session: Session): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes a reader; docs/operations.md names what must be kept by law. */
  forget(session: Session, caller: Caller): Promise<readonly string[]>;
}
