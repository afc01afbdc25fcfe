import { describe, expect, test } from 'vitest';
import type { AccessLevel } from '../content/model.ts';
import { isLevelRaised, isRestrictedLevel, levelOf, type SectionRules } from './model.ts';

const rules: SectionRules = { columnists: 'subscriber', opinion: 'registered', community: 'free' };

describe('levelOf', () => {
  test.each<[AccessLevel, string[], AccessLevel]>([
    ['default', [], 'default'],
    ['default', ['national'], 'default'],
    ['default', ['columnists'], 'subscriber'],
    ['default', ['opinion', 'columnists'], 'subscriber'],
    ['default', ['community', 'national'], 'free'],
    ['default', ['community', 'opinion'], 'registered'],
    ['free', ['columnists'], 'free'],
    ['registered', ['columnists'], 'registered'],
    ['subscriber', ['community'], 'subscriber'],
    ['default', ['constructor', '__proto__'], 'default'],
  ])('gives an article with access %s in the sections %j the level %s', (own, sections, expected) =>
    expect(levelOf(own, sections, rules)).toBe(expected),
  );
});

test.each<[AccessLevel, boolean]>([
  ['default', false],
  ['free', false],
  ['registered', true],
  ['subscriber', true],
])('isRestrictedLevel is true only for registered and subscriber: %s', (level, expected) =>
  expect(isRestrictedLevel(level)).toBe(expected),
);

test.each<[AccessLevel, AccessLevel, boolean]>([
  ['free', 'default', false],
  ['default', 'free', false],
  ['default', 'registered', true],
  ['free', 'subscriber', true],
  ['registered', 'subscriber', true],
  ['registered', 'registered', false],
  ['subscriber', 'subscriber', false],
  ['subscriber', 'registered', false],
  ['subscriber', 'default', false],
])('isLevelRaised from %s to %s: %s', (before, after, expected) => expect(isLevelRaised(before, after)).toBe(expected));
