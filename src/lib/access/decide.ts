/**
 * The access rules: how much of an article a reader may read, and what the reader is asked for. One table, as pure functions.
 */
import { type AccessLevel, accessLevels } from '../content/model.ts';

/** Kinds of reader of an article; the first that applies counts. */
export const readers = ['subscriber', 'trialing', 'timed', 'gifted', 'registered', 'anonymous'] as const;
/**
 * `subscriber` has a paid product; `trialing` has one in its introductory period (the penny promotion); `timed` is in a
 * trial after registering; `gifted` was given this article.
 */
export type Reader = (typeof readers)[number];

/** State of the meter: this article is `counted` already, at least one article is `left`, or none is (`over`). */
export const meterStates = ['counted', 'left', 'over'] as const;
export type MeterState = (typeof meterStates)[number];

/** Access levels, and `none` for pages that are not articles. */
export const subjects = ['none', ...accessLevels] as const;
export type Subject = AccessLevel | 'none';

/** The facts that a decision depends on. */
export interface Facts {
  readonly subject: Subject;
  readonly authenticated: boolean;
  /** Whether a paid product is active, and whether all active ones are in their introductory period. */
  readonly paying: boolean;
  readonly promotion: boolean;
  /** Whether a timed trial is running. */
  readonly timed: boolean;
  /** Whether the browser holds a gift of this article. */
  readonly gift: boolean;
  readonly meter: MeterState;
}

/** The keys of the table, made from {@link Facts}. */
export interface Situation {
  readonly subject: Subject;
  readonly reader: Reader;
  readonly meter: MeterState;
}

export interface Outcome {
  /** `whole` is all of it, `excerpt` the public part. */
  readonly body: 'whole' | 'excerpt';
  /** None, an overlay over the public text, or the end of the excerpt. */
  readonly paywall: 'none' | 'soft' | 'hard';
  /** What the paywall asks the reader to do. */
  readonly ask: 'nothing' | 'registration' | 'subscription';
  /** Whether this reading is to be counted. */
  readonly count: boolean;
  /** The entitlement that opened the article; `null`: it is open to everyone, or restricted. */
  readonly by: Exclude<Reader, 'anonymous'> | null;
}

export interface Rule {
  readonly name: string;
  /** An omitted key matches every value. */
  readonly when: { readonly [part in keyof Situation]?: readonly Situation[part][] };
  readonly outcome: Outcome;
}

const open: Outcome = { body: 'whole', paywall: 'none', ask: 'nothing', count: false, by: null };
const notFree: readonly Subject[] = ['default', 'registered', 'subscriber'];
const softPaywall = (ask: Outcome['ask']): Outcome => ({ ...open, paywall: 'soft', ask });
const hardPaywall = (ask: Outcome['ask']): Outcome => ({ ...open, body: 'excerpt', paywall: 'hard', ask });

/** Exactly one rule applies to every situation; a test checks that. */
export const rules: readonly Rule[] = [
  { name: 'a page that isn’t an article is open', when: { subject: ['none'] }, outcome: open },
  { name: 'a free article is open', when: { subject: ['free'] }, outcome: open },
  {
    name: 'a subscriber reads everything',
    when: { subject: notFree, reader: ['subscriber'] },
    outcome: { ...open, by: 'subscriber' },
  },
  {
    name: 'a promotion counts as a subscription',
    when: { subject: notFree, reader: ['trialing'] },
    outcome: { ...open, by: 'trialing' },
  },
  {
    name: 'a timed trial opens everything while it runs',
    when: { subject: notFree, reader: ['timed'] },
    outcome: { ...open, by: 'timed' },
  },
  {
    name: 'a gift opens its article and does not count toward the meter',
    when: { subject: notFree, reader: ['gifted'] },
    outcome: { ...open, by: 'gifted' },
  },
  {
    name: 'an account opens an article for registered readers',
    when: { subject: ['registered'], reader: ['registered'] },
    outcome: { ...open, by: 'registered' },
  },
  {
    name: 'an article for registered readers asks for an account',
    when: { subject: ['registered'], reader: ['anonymous'] },
    outcome: hardPaywall('registration'),
  },
  {
    name: 'an article for subscribers asks for a subscription',
    when: { subject: ['subscriber'], reader: ['registered', 'anonymous'] },
    outcome: hardPaywall('subscription'),
  },
  {
    name: 'an article that was counted once is not counted again',
    when: { subject: ['default'], reader: ['registered', 'anonymous'], meter: ['counted'] },
    outcome: open,
  },
  {
    name: 'a metered article is counted',
    when: { subject: ['default'], reader: ['registered', 'anonymous'], meter: ['left'] },
    outcome: { ...open, count: true },
  },
  {
    name: 'a registered reader beyond the meter is asked to subscribe',
    when: { subject: ['default'], reader: ['registered'], meter: ['over'] },
    outcome: softPaywall('subscription'),
  },
  {
    name: 'an anonymous reader beyond the meter is asked to register',
    when: { subject: ['default'], reader: ['anonymous'], meter: ['over'] },
    outcome: softPaywall('registration'),
  },
];

/** The kind of reader for these facts. */
export function readerOf({ authenticated, paying, promotion, timed, gift }: Omit<Facts, 'subject' | 'meter'>): Reader {
  if (authenticated && paying) return promotion ? 'trialing' : 'subscriber';
  if (authenticated && timed) return 'timed';
  if (gift) return 'gifted';
  return authenticated ? 'registered' : 'anonymous';
}

export const ruleApplies = (rule: Rule, { subject, reader, meter }: Situation): boolean =>
  (rule.when.subject?.includes(subject) ?? true) &&
  (rule.when.reader?.includes(reader) ?? true) &&
  (rule.when.meter?.includes(meter) ?? true);

/** The rules by situation, precomputed. */
const decided = new Map(
  subjects.flatMap((subject) =>
    readers.flatMap((reader) =>
      meterStates.map((meter): [string, Rule | undefined] => [
        `${subject} ${reader} ${meter}`,
        rules.find((rule) => ruleApplies(rule, { subject, reader, meter })),
      ]),
    ),
  ),
);

/** The rule for these facts; its `outcome` is the decision. */
export function decide(facts: Facts): Rule {
  const rule = decided.get(`${facts.subject} ${readerOf(facts)} ${facts.meter}`);
  if (!rule) throw new Error('No access rule applies.');
  return rule;
}
