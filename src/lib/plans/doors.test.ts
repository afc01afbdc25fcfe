import { describe, expect, it, test } from 'vitest';
import { visitorKinds } from '../accounts/visitor.ts';
import { doorsOf, kindOf, kindsAbove } from './doors.ts';

const reader = { tier: 'sun-reader', print: false } as const;
const member = { tier: 'sun-member', print: false } as const;
const paper = { tier: 'sun-member', print: true } as const;

/** What a kind of reader sees at a plan; `Change` with a star waits. */
const seen = (plan: Parameters<typeof doorsOf>[0], kind: string) =>
  doorsOf(plan)
    .filter((door) => door.seenBy.split(' ').includes(kind))
    .map(({ words, waits }) => (waits ? `${words}*` : words));

describe('the way in', () => {
  it.each([
    ['anonymous', ['Join Today'], ['Join Today'], ['Join Today']],
    ['registered', ['Join Today'], ['Join Today'], ['Join Today']],
    ['subscriber', ['Upgrade'], ['Upgrade'], ['Upgrade']],
    ['reader', ['Change*'], ['Upgrade'], ['Upgrade']],
    ['member', ['Change'], ['Change*'], ['Upgrade']],
    ['founder', [], [], []],
  ])('for a %s', (kind, atReader, atMember, atPaper) => {
    expect([seen(reader, kind), seen(member, kind), seen(paper, kind)]).toEqual([atReader, atMember, atPaper]);
  });

  it('is one at most', () => {
    for (const plan of [reader, member, paper, { tier: 'sun-founder', print: false } as const])
      for (const kind of ['anonymous', ...visitorKinds]) expect(seen(plan, kind).length).toBeLessThan(2);
  });
});

test('tiers and kinds of reader belong together', () => {
  expect(kindOf('sun-member')).toBe('member');
  expect(kindsAbove('sun-reader')).toEqual(['member', 'founder']);
  expect(kindsAbove('sun-founder')).toEqual([]);
});
