// @vitest-environment jsdom
/** The script of the screen "Live", with a stand-in for WordPress's REST API. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { button, runScript, type } from './editor-script.ts';

const entry = (id: number, status = 'publish') => ({
  id,
  status,
  date: '2026-11-25T13:00:00',
  title: { raw: `Entry ${id}` },
  content: { raw: 'Text.' },
  meta: { newsroom_author: 0, newsroom_pinned: false, newsroom_key_event: false },
});
interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

let entries: ReturnType<typeof entry>[];
let saved: Asked[];
beforeEach(() => {
  saved = [];
  document.body.innerHTML = '<div id="newsroom-live"></div>';
  Object.assign(window, {
    newsroomLive: { story: 7, authors: [], author: 0, settings: {}, publish: true, state: 'live' },
  });
});
afterEach(() => document.body.replaceChildren());

/** Answers as WordPress does, which refuses more than 100 posts and a page after the last one. */
async function apiFetch(asked: Asked) {
  const url = new URL(asked.path, 'http://wordpress.test');
  if (asked.method === 'POST') {
    saved.push(asked);
    return { id: 1 };
  }
  const [size, page] = [Number(url.searchParams.get('per_page')), Number(url.searchParams.get('page') ?? 1)];
  if (size > 100 || (page > 1 && (page - 1) * size >= entries.length)) throw new Error('invalid page');
  const found = entries.slice((page - 1) * size, page * size);
  return Response.json(found, { headers: { 'X-WP-Total': String(entries.length) } });
}

const open = () =>
  runScript('live.js', {
    apiFetch,
    blocks: {
      createBlock: (name: string) => ({ name, html: '' }),
      parse: (html: string) => [{ name: 'core/paragraph', html }],
      serialize: (blocks: { html: string }[]) => blocks.map(({ html }) => html).join(''),
    },
  });
const headline = () => document.querySelector('input')?.value;
const rows = () => document.querySelectorAll('ol li').length;

it('the screen "Live" shows all entries of a story, fifty more each time', async () => {
  entries = Array.from({ length: 130 }, (_, index) => entry(index + 1));
  open();
  for (const shown of [50, 100, 130]) {
    await vi.waitFor(() => expect(rows()).toBe(shown));
    if (shown < 130) button('Show more').click();
  }
  expect(() => button('Show more')).toThrow();
});

it('an entry that is pending review stays pending when the screen "Live" saves it', async () => {
  entries = [entry(1, 'pending'), entry(2, 'draft')];
  open();
  for (const [id, status] of [
    [1, 'pending'],
    [2, 'draft'],
  ] as const) {
    await vi.waitFor(() => expect(rows()).toBe(2));
    button(`Edit: Entry ${id}`).click();
    await vi.waitFor(() => expect(headline()).toBe(`Entry ${id}`));
    type('Headline (optional)', `Entry ${id}, changed`);
    await vi.waitFor(() => expect(headline()).toBe(`Entry ${id}, changed`));
    button('Write a new entry').click();
    await vi.waitFor(() => expect(saved.at(-1)?.data).toMatchObject({ title: `Entry ${id}, changed`, status }));
  }
});
