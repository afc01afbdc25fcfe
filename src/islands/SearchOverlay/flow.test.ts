import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Reply } from '../../lib/http/ask.ts';
import type { SearchAnswer } from '../../lib/search/model.ts';
import { createSearchFlow } from './flow.ts';

const found = (query: string, hits = 1): Reply<SearchAnswer> => ({
  ok: true,
  status: 200,
  value: {
    nbHits: hits,
    page: 0,
    nbPages: 1,
    hitsPerPage: 8,
    query,
    instead: [],
    hits: Array.from({ length: hits }, (_, index) => ({
      slug: `s-${index}`,
      post_id: index + 1,
      post_title: query,
      image_url: null,
      author: { post_title: '' },
      snippet: [],
      section: null,
      date: '2026-11-21T00:00:00Z',
      url: `/article/s-${index}`,
    })),
  },
});
const refused: Reply<SearchAnswer> = { ok: false, status: 503, message: null, retryAfter: null, suggestedEmail: null };

function stand() {
  const asked: { query: string; signal: AbortSignal; answer: (answer: Reply<SearchAnswer>) => Promise<void> }[] = [];
  const state = { online: true };
  const suggest = vi.fn(async () => ({ featured: [{ id: 1 } as never], popular: [] }));
  const flow = createSearchFlow({
    ask: (query, signal) =>
      new Promise((resolve) => {
        const answer = async (value: Reply<SearchAnswer>) => {
          resolve(value);
          await vi.advanceTimersByTimeAsync(0);
        };
        asked.push({ query, signal, answer });
      }),
    suggest,
    online: () => state.online,
  });
  return { flow, asked, state, suggest, now: () => flow.$state.get() };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('the search sends one request, 200 ms after the reader stops typing', async () => {
  const { flow, asked, now } = stand();
  for (const text of ['b', 'br', 'bri', 'brid']) {
    flow.type(text);
    await vi.advanceTimersByTimeAsync(199);
  }
  expect(asked).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked.map(({ query }) => query)).toEqual(['brid']);
  expect(now()).toMatchObject({ phase: 'loading', query: 'brid', answer: null });
  await asked[0]?.answer(found('brid'));
  expect(now()).toMatchObject({ phase: 'found', answer: { query: 'brid' } });
});

it('a new search aborts the previous one and ignores its answer', async () => {
  const { flow, asked, now } = stand();
  flow.submit('first');
  flow.submit('second');
  expect(asked[0]?.signal.aborted).toBe(true);
  await asked[1]?.answer(found('second'));
  await asked[0]?.answer(found('first'));
  expect(now()).toMatchObject({ phase: 'found', answer: { query: 'second' } });
});

it('the previous results stay until the next answer arrives', async () => {
  const { flow, asked, now } = stand();
  flow.submit('bridge');
  await asked[0]?.answer(found('bridge'));
  flow.type('bridges');
  await vi.advanceTimersByTimeAsync(200);
  expect(now()).toMatchObject({ phase: 'loading', query: 'bridges', answer: { query: 'bridge' } });
});

it('the search sends no request for the same text again, for a single letter or for an empty field', async () => {
  const { flow, asked, now } = stand();
  flow.type('bridge');
  await vi.advanceTimersByTimeAsync(200);
  flow.type(' bridge ');
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toHaveLength(1);
  flow.type('b');
  expect(asked[0]?.signal.aborted).toBe(true);
  expect(now().phase).toBe('idle');
  flow.submit('  ');
  expect(asked).toHaveLength(1);
});

it('a search without results shows suggestions, which are fetched once', async () => {
  const { flow, asked, suggest, now } = stand();
  for (const query of ['zzz', 'yyy']) {
    flow.submit(query);
    await asked.at(-1)?.answer(found(query, 0));
    expect(now()).toMatchObject({ phase: 'none', query, suggestions: { featured: [{ id: 1 }] } });
  }
  expect(suggest).toHaveBeenCalledTimes(1);
});

it('opening the search shows suggestions, which come back when the field is emptied', async () => {
  const { flow, asked, suggest, now } = stand();
  flow.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(now()).toMatchObject({ phase: 'idle', suggestions: { featured: [{ id: 1 }] } });
  flow.type('bridge');
  await vi.advanceTimersByTimeAsync(200);
  await asked[0]?.answer(found('bridge'));
  expect(now().suggestions).toBeNull();
  flow.type('');
  expect(now()).toMatchObject({ phase: 'idle', suggestions: { featured: [{ id: 1 }] } });
  flow.clear();
  flow.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(suggest).toHaveBeenCalledTimes(1);
});

it('suggestions that came back empty are fetched again when the search is opened again', async () => {
  const { flow, suggest } = stand();
  suggest.mockResolvedValueOnce({ featured: [], popular: [] });
  flow.open();
  await vi.advanceTimersByTimeAsync(0);
  flow.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(suggest).toHaveBeenCalledTimes(2);
});

it('a failed or offline search says so, and can be tried again', async () => {
  const { flow, asked, state, now } = stand();
  flow.submit('bridge');
  await asked[0]?.answer(refused);
  expect(now()).toMatchObject({ phase: 'failed', query: 'bridge' });
  state.online = false;
  flow.submit('bridge');
  expect(asked).toHaveLength(1);
  expect(now()).toMatchObject({ phase: 'offline', query: 'bridge' });
  state.online = true;
  flow.submit('bridge');
  await asked[1]?.answer(found('bridge'));
  expect(now().phase).toBe('found');
});

it('clearing the search cancels what is pending and resets its state', async () => {
  const { flow, asked, now } = stand();
  flow.type('bridge');
  flow.clear();
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toHaveLength(0);
  flow.submit('bridge');
  flow.clear();
  await asked[0]?.answer(found('bridge'));
  expect(now()).toEqual({ phase: 'idle', query: '', answer: null, suggestions: null });
});

it('the search uses the text in the field after a letter was typed and deleted again', async () => {
  const { flow, asked, now } = stand();
  flow.type('bridge');
  await vi.advanceTimersByTimeAsync(200);
  await asked[0]?.answer(found('bridge'));
  flow.type('bridges');
  flow.type('bridge');
  await vi.advanceTimersByTimeAsync(200);
  expect(asked.map(({ query }) => query)).not.toContain('bridges');
  await asked.at(-1)?.answer(found('bridge'));
  expect(now()).toMatchObject({ phase: 'found', query: 'bridge' });

  flow.type('bridge t');
  await vi.advanceTimersByTimeAsync(200);
  flow.type('bridge to');
  flow.type('bridge t');
  await vi.advanceTimersByTimeAsync(200);
  expect(asked.at(-1)).toMatchObject({ query: 'bridge t', signal: { aborted: false } });
});
