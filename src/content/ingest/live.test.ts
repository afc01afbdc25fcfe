import { describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

const entry = (part: Json = {}, of: unknown = { story: 7, pinned: '1', key_event: false }) =>
  ingestDocument(sanitizer, 'live-entries', wirePost({ id: 5, entry: of, ...part }), plainContext);
const story = async (live: unknown) => {
  const result = await ingestDocument(sanitizer, 'articles', wirePost({ id: 1, live }), plainContext);
  return result.kind === 'document' ? result.document.facts.live : result;
};

describe('an entry of a live story', () => {
  it('names its story, and may have no headline', async () => {
    expect(await entry({ title: { rendered: '' } })).toMatchObject({
      kind: 'document',
      document: { type: 'live-entries', title: '', facts: { story: 7, pinned: true, keyEvent: false } },
    });
  });

  it('has headings from h4 down', async () => {
    const content = { rendered: '<h2>One</h2><p>a</p><h3>Two</h3><p>b</p>', protected: false };
    const result = await entry({ content });
    const html = result.kind === 'document' ? result.document.bodyHtml : '';
    expect(html.match(/<h\d/g)).toEqual(['<h4', '<h5']);
  });

  it('contains no hostile markup', async () => {
    for (const payload of xssPayloads) {
      const result = await entry({ title: { rendered: payload }, content: { rendered: `<p>A ${payload} B</p>` } });
      if (result.kind !== 'document') continue;
      const { bodyHtml } = result.document;
      expect(bodyHtml, payload).not.toMatch(/<(?:script|style|iframe|object|embed|form|input|meta|link|base)[\s>]/iu);
      const body = sanitizer.window.document.createElement('div');
      body.innerHTML = bodyHtml;
      for (const { attributes } of body.querySelectorAll('*')) {
        for (const { name, value } of attributes) {
          expect(name, payload).not.toMatch(/^on/iu);
          expect(value, payload).not.toMatch(/^\s*(?:javascript|vbscript):/iu);
        }
      }
    }
  });

  it.each([
    ['no story', null],
    ['a story id of 0', { story: 0 }],
    ['a story id that is not a number', { story: 'x' }],
    ['a pinned flag that is not a boolean', { story: 7, pinned: 'maybe' }],
  ])('with %s is rejected with the name of the field', async (_what, of) => {
    expect(await entry({}, of)).toMatchObject({
      kind: 'rejected',
      rejection: { field: expect.stringMatching(/^entry/) },
    });
  });

  it('that is a draft is withheld', async () => {
    expect(await entry({ status: 'draft' })).toEqual({ kind: 'withheld', id: 5 });
  });
});

describe('a story’s live coverage', () => {
  it('is running, ended or absent', async () => {
    const started = '2026-11-25T09:00:00-05:00';
    expect(await story({ state: 'live', started, ended: null })).toEqual({
      state: 'live',
      started: '2026-11-25T14:00:00Z',
      ended: null,
    });
    expect(await story({ state: 'ended', started, ended: '2026-11-25T15:00:00Z' })).toMatchObject({ state: 'ended' });
    for (const none of [undefined, null, false, { state: '' }]) expect(await story(none)).toBeUndefined();
  });

  it('is rejected, together with its story, if its state is unknown', async () => {
    expect(await story({ state: 'paused' })).toMatchObject({ kind: 'rejected', rejection: { field: 'live' } });
  });
});
