/**
 * Tables of the accounts feature, made by `src/server/migrations/accounts.ts`. Users, sessions and identities hold dates as ISO text and
 * have columns that nothing uses any more: dropping them would break a process of the build before that still runs.
 */

export interface UsersTable {
  id: string;
  /** Not null, and always empty: names are in the profile. */
  name: string;
  /** Lower case. */
  email: string;
  /** 1 once a user has proven that they receive mail at this address. */
  emailVerified: number;
  /** Always null. */
  image: string | null;
  createdAt: string;
  updatedAt: string;
  /** Public id, a UUID. */
  trackingId: string;
}

export interface SessionsTable {
  id: string;
  userId: string;
  /** HMAC of the cookie's token. */
  token: string;
  expiresAt: string;
  createdAt: string;
  /** When it was last used, to about a day. */
  updatedAt: string;
  /** Always null or empty: network addresses are not stored. */
  ipAddress: string | null;
  /** For instance `Chrome on Windows`, not the full user agent. */
  userAgent: string | null;
}

/** Accounts at social providers; no token of a provider is stored. */
export interface IdentitiesTable {
  id: string;
  userId: string;
  accountId: string;
  providerId: string;
  createdAt: string;
  updatedAt: string;
}

/** Links, codes and the state keys of social sign-ins: proofs that can be used once. */
export interface ProofsTable {
  /** HMAC of the token; for codes of the address, which has one at a time. */
  id: string;
  kind: 'link' | 'code' | 'social';
  /** HMAC of the address that it is for. */
  subject: string;
  /** What the proof was requested for; empty for `social`. */
  purpose: string;
  /** HMAC of the code; `null` for links. */
  secret: string | null;
  /** Address, redirect and the like, JSON; for codes a random number of the sending. */
  payload: string;
  /** Wrong guesses of a code; 1 for a link whose use has failed. */
  tries: number;
  created: number;
  expires: number;
  /** When it was used; kept until pruning, so that the link's page can say so. */
  used: number | null;
}

/** Counters of the limits. */
export interface LimitsTable {
  /** Name of the limit and an HMAC of the subject that is counted. */
  key: string;
  /** Start of the current window. */
  since: number;
  /** End of the window; after it the row can be deleted. */
  until: number;
  count: number;
}

export interface ProfilesTable {
  user_id: string;
  /** One level of scalars, JSON. */
  data: string;
  updated: number;
}

export interface ExtendedProfilesTable {
  user_id: string;
  app: string;
  /** Any JSON. */
  data: string;
  updated: number;
}

export interface AuditTable {
  id: string;
  at: number;
  event: string;
  user_id: string | null;
  /** HMAC of the email address. */
  subject: string | null;
  /** HMAC of the network address. */
  place: string | null;
  /** Details as a fixed text: a provider, a reason. */
  detail: string | null;
}

export interface AccountsTables {
  users: UsersTable;
  sessions: SessionsTable;
  identities: IdentitiesTable;
  proofs: ProofsTable;
  limits: LimitsTable;
  profiles: ProfilesTable;
  extended_profiles: ExtendedProfilesTable;
  audit: AuditTable;
}
