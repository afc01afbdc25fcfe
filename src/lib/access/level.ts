/** Which readers an article is for: what its editors said, else what the publication says of its sections. */
import { publication } from '../../publication.ts';
import type { AccessLevel, WalledLevel } from '../content/model.ts';

/** Levels of sections by their slug. */
export type SectionRules = Readonly<Record<string, Exclude<AccessLevel, 'default'>>>;

const strictness: Readonly<Record<AccessLevel, number>> = { default: 0, free: 1, registered: 2, subscriber: 3 };

/**
 * The level that counts for an article. Its own word is the last one; without it the strictest of its sections' counts, and
 * without that it is metered.
 *
 * @param own level that the editors chose for it
 * @param sections slugs of the sections that it belongs to
 */
export function levelOf(
  own: AccessLevel,
  sections: readonly string[],
  rules: SectionRules = publication.access.sections,
): AccessLevel {
  if (own !== 'default') return own;
  return sections
    .map((slug): AccessLevel => (Object.hasOwn(rules, slug) ? (rules[slug] ?? 'default') : 'default'))
    .reduce((strictest, level) => (strictness[level] > strictness[strictest] ? level : strictest), 'default');
}

/** Whether the rest of an article is for some readers only. */
export const isWalled = (level: AccessLevel): level is WalledLevel => level === 'registered' || level === 'subscriber';
