/**
 * The rate limits of the whole site: how many calls, within which time, for whom. They are fixed windows that start with the first
 * call; the refusal says when the window ends.
 *
 * They are checked in the order address, its /48, email, overall, and the first one that is exceeded ends the check: a caller over the
 * limit of an address doesn't use up the limit of an email or of the site. An address is an IPv4 address or an IPv6 /64; all addresses of a
 * /48 together have ten times the limit. Many readers share an address (a campus, a phone carrier), so an address's limit leaves room for
 * them, and the limits count what can be abused (mails, guesses, refused cards) rather than every action.
 */

export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

/**
 * Where a limit is counted. `database`: always in the accounts database, so that a restart forgets nothing. `shared`: in PostgreSQL if
 * there is one, so that it applies across processes, else in memory. `process`: in the memory of each process, if a multiple of the
 * limit does no harm (docs/decisions/0025-rate-limiter.md).
 */
export type LimitStore = 'database' | 'shared' | 'process';

/** The limits of one kind of call. */
export interface LimitSet {
  /** `database` unless given. */
  readonly store?: LimitStore;
  /** Counted before the result is known; the count is removed if the call turns out not to count. */
  readonly reserved?: true;
  /** Counted in memory if the database is slow, because the caller can't wait. */
  readonly impatient?: true;
  /** For one network address. */
  readonly address?: Limit;
  /**
   * For one account (`LimitSubject.account`). It is called `email` as in the setting: most accounts are counted by their email
   * address.
   */
  readonly email?: Limit;
  /** For all callers together: it protects the mail quota from a botnet, far above a normal day's use. */
  readonly overall?: Limit;
}

const minutes = (count: number): number => count * 60;
const day = minutes(24 * 60);

const limits = {
  /** Look-ups of whether an address has an account. A sign-in makes two: the check of the address is one. */
  exists: {
    address: { most: 240, seconds: minutes(10) },
    overall: { most: 40_000, seconds: minutes(10) },
  },
  /** Checks of whether an address can receive mail; each may call another service. */
  verify: {
    store: 'shared',
    address: { most: 60, seconds: 60 },
  },
  /** Calls of the outside service that checks addresses: it costs money. Over the limit, addresses count as verified. */
  verifier: {
    store: 'shared',
    overall: { most: 1000, seconds: minutes(10) },
  },
  /**
   * Sign-in links sent by mail. The window of an email address is the time for which a link is valid: a reader over the limit still has a
   * valid link in the mailbox, and isn't refused (see accounts/sending.server.ts).
   */
  link: {
    address: { most: 60, seconds: minutes(10) },
    email: { most: 5, seconds: minutes(10) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Codes sent by mail. */
  code: {
    address: { most: 60, seconds: minutes(10) },
    email: { most: 5, seconds: minutes(10) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /**
   * Codes and links mailed to one person in a day: within the shorter limits above it could be 1,440. Over these limits, links are still
   * mailed one at a time (see accounts/sending.server.ts); over `codeDaily`, readers sign in by link.
   */
  codeDaily: { email: { most: 20, seconds: day } },
  linkDaily: { email: { most: 50, seconds: day } },
  /** Of links to create an account, with the mails that confirm the address of a new one. */
  registerLinkDaily: { email: { most: 10, seconds: day } },
  /** Mails that confirm the address of a new account. Beyond the limit, an account that is about to pay is created without one. */
  confirmation: {
    address: { most: 60, seconds: minutes(60) },
    email: { most: 3, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Wrong codes. With 20 guesses an hour, an attacker would succeed once in six years of continuous guessing. */
  guess: {
    reserved: true,
    address: { most: 60, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /**
   * Wrong codes that were compared with a valid one. A botnet that guesses without a pause gets into some account once in five weeks.
   * While the limit is reached, readers sign in by link; the limit of an address keeps a few machines from reaching that of all.
   */
  comparedGuess: {
    reserved: true,
    address: { most: 10, seconds: minutes(10) },
    overall: { most: 200, seconds: minutes(10) },
  },
  /** Accounts created from only an address: database rows, which are deleted if they stay unconfirmed. */
  create: {
    address: { most: 600, seconds: minutes(60) },
    email: { most: 3, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(60) },
  },
  /** Attempts to register or sign in with the key of a social sign-in. */
  register: {
    address: { most: 120, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Returns from Google and Facebook. */
  social: {
    address: { most: 120, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Quotes requested from Stripe. */
  quote: {
    store: 'shared',
    address: { most: 300, seconds: minutes(10) },
    email: { most: 60, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Stripe's setup intents for a card; an unused one is offered again. */
  setup: {
    address: { most: 120, seconds: minutes(60) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 2000, seconds: minutes(10) },
  },
  /** Attempts to subscribe, whatever their result. */
  subscribe: {
    address: { most: 600, seconds: minutes(60) },
    email: { most: 40, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Wrong coupons: a valid code doesn't count. */
  coupon: {
    reserved: true,
    address: { most: 20, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 1000, seconds: minutes(10) },
  },
  /** Refused cards: otherwise, a thief could test stolen cards here. */
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
    store: 'shared',
    address: { most: 120, seconds: 60 },
  },
  /** Views reported for the most read stories. */
  reading: {
    store: 'shared',
    address: { most: 240, seconds: minutes(60) },
  },
  /** Calls about saved and read stories, of one account: far more than a person makes. */
  saved: {
    store: 'process',
    email: { most: 240, seconds: 60 },
  },
  /**
   * Parts of audio files: a player asks for a part at each seek. The files of a private feed need no cookies, so anyone with whom their
   * addresses were shared can open them; the limit is far above what the apps of one reader need.
   */
  sound: {
    store: 'process',
    address: { most: 1200, seconds: minutes(10) },
    email: { most: 300, seconds: minutes(60) },
  },
  /**
   * Wrong tokens of private feeds. Podcast services read the feeds of many users from few addresses, so valid tokens don't count for an
   * address.
   */
  feed: {
    store: 'shared',
    reserved: true,
    address: { most: 60, seconds: minutes(10) },
    email: { most: 120, seconds: minutes(60) },
  },
  /** Wrong tokens of operators. */
  operator: {
    reserved: true,
    // A metrics scrape that waits too long would report the site as down.
    impatient: true,
    address: { most: 10, seconds: minutes(10) },
  },
  /** Requests with reports of what the content security policy blocked. */
  csp: {
    store: 'process',
    address: { most: 60, seconds: 60 },
    overall: { most: 3000, seconds: 60 },
  },
  /** Measurements by browsers, at most one for each page view. */
  vitals: {
    store: 'process',
    address: { most: 60, seconds: 60 },
    overall: { most: 6000, seconds: 60 },
  },
} satisfies Record<string, LimitSet>;

export type LimitName = keyof typeof limits;
export type Limits = Readonly<Record<LimitName, LimitSet>>;

export const defaultLimits: Limits = limits;

const scopes = ['address', 'email', 'overall'] as const;
const longestWindow = 7 * 24 * 60 * 60;

/**
 * Overrides some of the limits: `link.email=10/600, code.address=60/600`, the number of calls and the seconds of a window.
 *
 * @returns the limits, or all errors of the text, each as a sentence with the remedy
 */
export function readLimits(text: string): { readonly limits: Limits } | { readonly problems: readonly string[] } {
  const limits: Record<string, LimitSet> = { ...defaultLimits };
  const problems: string[] = [];
  const known = Object.entries(defaultLimits).flatMap(([name, set]: [string, LimitSet]) =>
    scopes.flatMap((scope) => (set[scope] ? [`${name}.${scope}`] : [])),
  );
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [, name = '', scope = '', most, seconds] =
      /^([a-z]+)\.([a-z]+)\s*=\s*(\d{1,9})\s*\/\s*(\d{1,9})$/i.exec(part) ?? [];
    const limit = { most: Number(most), seconds: Number(seconds) };
    if (!known.includes(`${name}.${scope}`)) {
      problems.push(`"${part}" names no limit; give name.scope=most/seconds with one of ${known.join(', ')}`);
    } else if (limit.most < 1 || limit.seconds < 1 || limit.seconds > longestWindow) {
      problems.push(`"${part}" is out of bounds; give at least 1 in 1 to ${longestWindow} seconds`);
    } else {
      limits[name] = { ...limits[name], [scope]: limit };
    }
  }
  return problems.length > 0 ? { problems } : { limits: limits as unknown as Limits };
}
