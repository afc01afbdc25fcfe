/**
 * Rate limits of the whole product, as configuration: how often, within which time, for whom. They are fixed windows that begin
 * with the first call; the refusal says when the window ends.
 *
 * They are checked in the order address, e-mail, overall, and the first that is over ends it: a caller over the limit of an
 * address does not use up an e-mail's or everyone's. An address is an IPv4 address or an IPv6 /64; all those of a /48 together
 * may do ten times as much. Many readers share an address (a campus, a phone carrier): what an address may do leaves room for
 * them, and what can be abused (mails, guesses, refused cards) is counted rather than what every reader does.
 */

export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

/**
 * Where a limit is counted. `database`: always in the accounts database, so that a restart forgets nothing. `shared`: in
 * PostgreSQL where there is one, so that it holds across processes, else in memory. `process`: in the memory of each process,
 * where a multiple of the limit does no harm (docs/decisions/0025-rate-limiter.md).
 */
export type Kept = 'database' | 'shared' | 'process';

/** What is counted together. */
export interface LimitSet {
  /** `database` unless given. */
  readonly kept?: Kept;
  /** Counted before it is known whether the call counts, and given back when it does not. */
  readonly reserved?: true;
  /** For one network address. */
  readonly address?: Limit;
  /** For one e-mail address, which stands for one account. */
  readonly email?: Limit;
  /** For everyone together; stands between a bot net and the mail quota, far above what a day's readers do. */
  readonly overall?: Limit;
}

export type LimitName =
  | 'exists'
  | 'verify'
  | 'link'
  | 'code'
  | 'confirmation'
  | 'guess'
  | 'create'
  | 'register'
  | 'social'
  | 'quote'
  | 'setup'
  | 'subscribe'
  | 'coupon'
  | 'card'
  | 'support'
  | 'comment'
  | 'report'
  | 'search'
  | 'reading'
  | 'saved'
  | 'operator'
  | 'csp';

export type Limits = Readonly<Record<LimitName, LimitSet>>;

const minutes = (count: number): number => count * 60;

export const defaultLimits: Limits = {
  /** Questions whether an address belongs to a reader. */
  exists: {
    address: { most: 120, seconds: minutes(10) },
    overall: { most: 20_000, seconds: minutes(10) },
  },
  /** Questions whether mail can reach an address; each may cost a look-up elsewhere. */
  verify: {
    kept: 'shared',
    address: { most: 60, seconds: 60 },
  },
  /**
   * Links mailed. The window of an e-mail is as long as a link lives: a reader over it has a link that still works in the
   * mailbox, and is not refused (see accounts/sending.server.ts).
   */
  link: {
    address: { most: 60, seconds: minutes(10) },
    email: { most: 5, seconds: minutes(10) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Codes mailed. */
  code: {
    address: { most: 60, seconds: minutes(10) },
    email: { most: 5, seconds: minutes(10) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Mails to confirm an address that come with a new account. Over it an account that is about to pay is made without one. */
  confirmation: {
    address: { most: 60, seconds: minutes(60) },
    email: { most: 3, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Wrong codes. 20 an hour are one success in six years of trying without a pause. */
  guess: {
    reserved: true,
    address: { most: 60, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Accounts made by their address alone: rows of a database, which are pruned when no one confirms them. */
  create: {
    address: { most: 600, seconds: minutes(60) },
    email: { most: 3, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(60) },
  },
  /** Attempts to register or sign in with a social sign-in's key. */
  register: {
    address: { most: 120, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Returns from Google and Facebook. */
  social: {
    address: { most: 120, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Quotes for which Stripe is asked. */
  quote: {
    kept: 'shared',
    address: { most: 300, seconds: minutes(10) },
    email: { most: 60, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Set-ups of a card made at Stripe; one that has not been used is given again. */
  setup: {
    address: { most: 120, seconds: minutes(60) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 2000, seconds: minutes(10) },
  },
  /** Attempts to subscribe, whatever becomes of them. */
  subscribe: {
    address: { most: 600, seconds: minutes(60) },
    email: { most: 40, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Coupons that were not right: a code that is good is not counted. */
  coupon: {
    reserved: true,
    address: { most: 20, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 1000, seconds: minutes(10) },
  },
  /** Cards that were refused: a thief of many would find out with us which of them are good. */
  card: {
    reserved: true,
    address: { most: 60, seconds: minutes(60) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 1000, seconds: minutes(10) },
  },
  /** Comments written or changed. */
  comment: {
    reserved: true,
    address: { most: 60, seconds: minutes(10) },
    email: { most: 8, seconds: minutes(10) },
    overall: { most: 3000, seconds: minutes(10) },
  },
  /** Comments reported to the editors. */
  report: {
    address: { most: 60, seconds: minutes(60) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(60) },
  },
  /** Messages to the support inbox. */
  support: {
    address: { most: 5, seconds: minutes(10) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 300, seconds: minutes(10) },
  },
  /** Searches: each letter that a reader types may be one. */
  search: {
    kept: 'shared',
    address: { most: 120, seconds: 60 },
  },
  /** Readings told to the list of what is read most. */
  reading: {
    kept: 'shared',
    address: { most: 240, seconds: minutes(60) },
  },
  /** Calls about saved and read stories, of one account: far above what fingers do. */
  saved: {
    kept: 'process',
    email: { most: 240, seconds: 60 },
  },
  /** Wrong tokens of operators. */
  operator: {
    reserved: true,
    address: { most: 10, seconds: minutes(10) },
  },
  /** Requests with reports of what the content security policy blocked. */
  csp: {
    kept: 'process',
    address: { most: 60, seconds: 60 },
    overall: { most: 3000, seconds: 60 },
  },
};

const scopes = ['address', 'email', 'overall'] as const;
const longestWindow = 7 * 24 * 60 * 60;

/**
 * The limits with some of them set otherwise: `link.email=10/600, code.address=60/600`, the most and the seconds of a window.
 *
 * @returns the limits, or every fault of the text, each a sentence that says what to do
 */
export function readLimits(text: string): { readonly limits: Limits } | { readonly problems: readonly string[] } {
  const limits: Record<string, LimitSet> = { ...defaultLimits };
  const problems: string[] = [];
  const known = Object.entries(defaultLimits).flatMap(([name, set]: [string, LimitSet]) =>
    scopes.flatMap((who) => (set[who] ? [`${name}.${who}`] : [])),
  );
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [, name = '', who = '', most, seconds] =
      /^([a-z]+)\.([a-z]+)\s*=\s*(\d{1,9})\s*\/\s*(\d{1,9})$/.exec(part) ?? [];
    const limit = { most: Number(most), seconds: Number(seconds) };
    if (!known.includes(`${name}.${who}`)) {
      problems.push(`"${part}" names no limit; give name.who=most/seconds with one of ${known.join(', ')}`);
    } else if (limit.most < 1 || limit.seconds < 1 || limit.seconds > longestWindow) {
      problems.push(`"${part}" is out of bounds; give at least 1 in 1 to ${longestWindow} seconds`);
    } else {
      limits[name] = { ...limits[name], [who]: limit };
    }
  }
  return problems.length > 0 ? { problems } : { limits: limits as unknown as Limits };
}
