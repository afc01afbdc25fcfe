import { describe, expect, it } from 'vitest';
import { questionText, readQuestion, spanOf } from './question.ts';

const read = (text: string) => readQuestion(new URLSearchParams(text));

describe('an address of a search', () => {
  it('says words, a section and days', () => {
    expect(read('q=+bridge+&section=politics&from=2026-01-02&to=2026-01-03&else=1')).toEqual({
      ok: true,
      question: { query: 'bridge', section: 'politics', from: '2026-01-02', to: '2026-01-03' },
    });
    expect(read('')).toEqual({ ok: true, question: { query: '', section: '', from: '', to: '' } });
  });

  it.each([
    'from=yesterday',
    'to=2026-02-30',
    'from=2026-1-2',
    'to=2026-13-01',
    'from=0',
    'from=2026-01-02&to=2026-01-01',
  ])('refuses days that make no sense: %s', (text) =>
    expect(read(`q=bridge&${text}`)).toMatchObject({ ok: false, query: 'bridge' }),
  );

  it('is written with what is given only', () => {
    const question = { query: 'a & b', section: '', from: '2026-01-02', to: '' };
    expect(questionText(question)).toBe('q=a%20%26%20b&from=2026-01-02');
  });
});

it('takes days as those of New York, the last one within, also where the clock changes', () => {
  expect(spanOf({ from: '2026-03-08', to: '2026-03-08' })).toEqual({
    since: '2026-03-08T05:00:00.000Z',
    until: '2026-03-09T04:00:00.000Z',
  });
  expect(spanOf({ from: '', to: '2026-12-31' })).toEqual({ until: '2027-01-01T05:00:00.000Z' });
  expect(spanOf({ from: '', to: '' })).toEqual({});
});
