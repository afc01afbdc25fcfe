/** Which readers an article is for: what its editors said, else what the publication says of its sections. */
import { publication } from '../../publication.ts';

/** As `AccessLevel` of the content; `default` is public and metered. */
export type Level = 'default' | 'free' | 'registered' | 'subscriber';

/** Levels of sections by their slug. */
export type SectionRules = Readonly<Record<string, Exclude<Level, 'default'>>>;

const strictness: Readonly<Record<Level, number>> = { default: 0, free: 1, registered: 2, subscriber: 3 };

/**
 * The level that counts for an article. Its own word is the last one; without it the strictest of its sections' counts, and
 * without that it is metered.
 *
 * @param own level that the editors chose for it
 * @param sections slugs of the sections that it belongs to
 */
export function levelOf(
  own: Level,
  sections: readonly string[],
  rules: SectionRules = publication.access.sections,
): Level {
  if (own !== 'default') return own;
  return sections
    .map((slug): Level => (Object.hasOwn(rules, slug) ? (rules[slug] ?? 'default') : 'default'))
    .reduce((strictest, level) => (strictness[level] > strictness[strictest] ? level : strictest), 'default');
}

/** Whether the rest of an article is for some readers only. */
export const isWalled = (level: Level): level is 'registered' | 'subscriber' =>
  level === 'registered' || level === 'subscriber';
