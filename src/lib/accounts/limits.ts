/**
 * Limits of the account calls, as configuration: how often, in which time, for whom. They are fixed windows that begin with
 * the first call; what is over them is told when the window ends.
 *
 * They are looked at in the order address, e-mail, everybody, and the first that is over ends it: whoever is over the limit
 * of an address does not use up an e-mail's or everybody's. An address is an IPv4 address or an IPv6 /64;
 * all those of a /48 together may ten times as much.
 */

export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

/** What is counted together. */
export interface LimitSet {
  /** For one network address. */
  readonly address: Limit;
  /** For one e-mail address. */
  readonly email?: Limit;
  /** For everybody; stands between a bot net and the mail quota, far above what a day's readers do. */
  readonly overall: Limit;
}

export type LimitName =
  | 'exists'
  | 'link'
  | 'code'
  | 'guess'
  | 'create'
  | 'register'
  | 'social'
  | 'coupon'
  | 'card'
  | 'support'
  | 'comment'
  | 'report';

export type Limits = Readonly<Record<LimitName, LimitSet>>;

const minutes = (count: number): number => count * 60;

/** Links and codes live this long, in seconds. */
export const proofSeconds = minutes(10);
/** Wrong guesses at one code. */
export const guessesPerCode = 5;

export const defaultLimits: Limits = {
  /** Questions whether somebody reads the paper. */
  exists: {
    address: { most: 60, seconds: minutes(10) },
    overall: { most: 20_000, seconds: minutes(10) },
  },
  /**
   * Links mailed. The window of an e-mail is as long as a link lives: who is over it has a link that still works in the
   * mailbox, and is not refused (see engine/sending.server.ts).
   */
  link: {
    address: { most: 30, seconds: minutes(10) },
    email: { most: 5, seconds: proofSeconds },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Codes mailed. */
  code: {
    address: { most: 30, seconds: minutes(10) },
    email: { most: 5, seconds: proofSeconds },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Wrong codes. 20 an hour are one success in six years of trying without a pause. */
  guess: {
    address: { most: 30, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(10) },
  },
  /** Accounts made by their address alone. */
  create: {
    address: { most: 10, seconds: minutes(60) },
    email: { most: 3, seconds: minutes(60) },
    overall: { most: 2000, seconds: minutes(60) },
  },
  /** Attempts to register or sign in with a social sign-in's key. */
  register: {
    address: { most: 30, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Returns from Google and Facebook. */
  social: {
    address: { most: 30, seconds: minutes(10) },
    overall: { most: 10_000, seconds: minutes(10) },
  },
  /** Coupons that were not right: a code that is good is not counted. */
  coupon: {
    address: { most: 20, seconds: minutes(10) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 1000, seconds: minutes(10) },
  },
  /** Comments written or changed. */
  comment: {
    address: { most: 30, seconds: minutes(10) },
    email: { most: 8, seconds: minutes(10) },
    overall: { most: 3000, seconds: minutes(10) },
  },
  /** Comments reported to the editors. */
  report: {
    address: { most: 60, seconds: minutes(60) },
    email: { most: 20, seconds: minutes(60) },
    overall: { most: 5000, seconds: minutes(60) },
  },
  /** Messages to the support desk. */
  support: {
    address: { most: 5, seconds: minutes(10) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 300, seconds: minutes(10) },
  },
  /** Cards that were refused: whoever has stolen many would find out with us which of them are good. */
  card: {
    address: { most: 30, seconds: minutes(60) },
    email: { most: 10, seconds: minutes(60) },
    overall: { most: 1000, seconds: minutes(10) },
  },
};

const longestWindow = 7 * 24 * 60 * 60;

/**
 * The limits with some of them set otherwise: `link.email=10/600, code.address=60/600`, the most and the seconds of a window.
 *
 * @returns the limits, or every fault of the text, each a sentence that says what to do
 */
export function readLimits(text: string): { readonly limits: Limits } | { readonly problems: readonly string[] } {
  const limits: Record<string, Record<string, Limit>> = Object.fromEntries(
    Object.entries(defaultLimits).map(([name, set]) => [name, { ...set }]),
  );
  const problems: string[] = [];
  const known = Object.entries(defaultLimits).flatMap(([name, set]) => Object.keys(set).map((who) => `${name}.${who}`));
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
