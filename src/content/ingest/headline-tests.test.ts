import { expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

const context = {
  ...plainContext,
  measure: async () => ({ width: 30, height: 20 }),
};
async function take(headline_test: unknown) {
  const result = await ingestDocument(
    sanitizer,
    'articles',
    wirePost({ id: 1, headline_test } as Json & { id: number }),
    context,
  );
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document.facts.test;
}
const id = '0123456789abcdef';
const started = '2026-11-25T12:00:00Z';
const other = (headline: unknown, image: unknown = null) => ({ headline, image });
const test = (part: object = {}) => ({ id, state: 'running', started, others: [other('Second')], ...part });

it('a headline test keeps its headlines as plain text, and its pictures', async () => {
  const image = { url: '/a.jpg', alt: 'A <b>mule</b>', width: null, height: null, caption: '', credit: '' };
  expect(await take(test({ others: [other('A  <b>B</b> &amp; C', image), other('Third')] }))).toEqual({
    id,
    state: 'running',
    started,
    others: [
      {
        title: 'A B & C',
        image: { url: 'https://cms.example/a.jpg', alt: 'A mule', width: 30, height: 20, caption: '', credit: '' },
      },
      { title: 'Third', image: null },
    ],
  });
});

it('a story from an older plugin has no headline test', async () => {
  for (const none of [undefined, null, false, '', []]) expect(await take(none)).toBeUndefined();
});

it.each([
  ['an id in the wrong format', test({ id: 'x' })],
  ['an id with markup', test({ id: '0123456789abcde>' })],
  ['an unknown state', test({ state: 'paused' })],
  ['an invalid start time', test({ started: 'now' })],
  ['no other headline', test({ others: [] })],
  ['too many headlines', test({ others: Array.from({ length: 10_000 }, () => other('x')) })],
  ['a headline that is not text', test({ others: [other({})] })],
  ['an empty headline', test({ others: [other('<b></b>')] })],
  ['an empty headline among others', test({ others: [other('x'), other('')] })],
  ['a string instead of an object', 'x'],
  ['a number instead of an object', 7],
])('a headline test with %s is dropped, and its story is accepted', async (_what, given) => {
  expect(await take(given)).toBeUndefined();
});

it('a test headline is sanitized like a title, and cut to 200 characters', async () => {
  for (const payload of xssPayloads) {
    const words = `A ${payload} B`;
    const title = wirePost({ id: 1, title: { rendered: words }, headline_test: test({ others: [other(words)] }) });
    const result = await ingestDocument(sanitizer, 'articles', title, context);
    const document = result.kind === 'document' ? result.document : null;
    const taken = document?.facts.test?.others[0]?.title;
    if ([...words].length <= 200) expect(taken ?? 'Untitled').toBe(document?.title);
  }
  const taken = await take(test({ others: [other('word '.repeat(500))] }));
  expect([...(taken?.others[0]?.title ?? '')].length).toBeLessThanOrEqual(200);
});
