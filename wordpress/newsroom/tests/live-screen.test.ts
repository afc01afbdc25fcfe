// @vitest-environment jsdom
/** The script of the screen "Live", with a stand-in for WordPress's REST API. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { button, runScripts, type } from './editor-script.ts';

const entry = (id: number, status = 'publish') => ({
  id,
  status,
  modified_gmt: '2026-11-25T13:00:00',
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
let autosaves: { author: number; modified_gmt: string; title: { raw: string }; content: { raw: string } }[];
let saved: Asked[];
/** The answer to a request that saves. */
let accept: (asked: Asked) => unknown;
beforeEach(() => {
  saved = [];
  autosaves = [];
  accept = () => ({ id: 1 });
  document.body.innerHTML = '<div id="newsroom-live"></div>';
  Object.assign(window, {
    newsroomLive: { story: 7, authors: [], author: 0, settings: {}, publish: true, state: 'live', user: 5 },
  });
});
afterEach(() => document.body.replaceChildren());

/** Answers as WordPress does, which refuses more than 100 posts and a page after the last one. */
async function apiFetch(asked: Asked) {
  const url = new URL(asked.path, 'http://wordpress.test');
  if (asked.method === 'POST') {
    saved.push(asked);
    return accept(asked);
  }
  if (url.pathname.endsWith('/autosaves')) return autosaves;
  const [size, page] = [Number(url.searchParams.get('per_page')), Number(url.searchParams.get('page') ?? 1)];
  if (size > 100 || (page > 1 && (page - 1) * size >= entries.length)) throw new Error('invalid page');
  const found = entries.slice((page - 1) * size, page * size);
  return Response.json(found, { headers: { 'X-WP-Total': String(entries.length) } });
}

const open = () =>
  runScripts(['live-entries.js', 'live.js'], {
    apiFetch,
    blocks: {
      createBlock: (name: string) => ({ name, html: '' }),
      parse: (html: string) => [{ name: 'core/paragraph', html }],
      serialize: (blocks: { html: string }[]) => blocks.map(({ html }) => html).join(''),
    },
  });
const flag = (label: string) => {
  const found = document.querySelector<HTMLInputElement>(`input[type=checkbox][aria-label="${label}"]`);
  if (!found) throw new Error(`There is no box "${label}".`);
  return found;
};
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

/** Opens an entry of the list in the editor. */
const edit = async (id: number, words = `Entry ${id}`) => {
  await vi.waitFor(() => expect(rows()).toBe(entries.length));
  button(`Edit: Entry ${id}`).click();
  await vi.waitFor(() => expect(headline()).toBe(words));
};
const write = async (words: string) => {
  type('Headline (optional)', words);
  await vi.waitFor(() => expect(headline()).toBe(words));
};
const text = () => document.body.textContent;
const isLocked = () => document.querySelector<HTMLElement>('[role=form]')?.inert ?? false;

it('an entry is published as it was at the key press, and nothing can be typed until WordPress has answered', async () => {
  entries = [];
  const { promise, resolve } = Promise.withResolvers();
  accept = () => promise;
  open();
  await vi.waitFor(() => expect(document.querySelector('input')).not.toBeNull());
  await write('As sent');
  button('Publish (Ctrl+Enter)').click();
  expect(isLocked()).toBe(true);
  type('Headline (optional)', 'As sent, and more');
  await vi.waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]?.data).toMatchObject({ title: 'As sent', status: 'publish' });
  resolve({ id: 1 });
  await vi.waitFor(() => expect([headline(), isLocked()]).toEqual(['', false]));
});

it('an entry that WordPress refuses stays in the editor, which can be used again', async () => {
  entries = [];
  accept = () => Promise.reject(new Error('The disk is full.'));
  open();
  await vi.waitFor(() => expect(document.querySelector('input')).not.toBeNull());
  await write('Kept');
  button('Publish (Ctrl+Enter)').click();
  await vi.waitFor(() => expect(text()).toContain('The disk is full.'));
  expect([headline(), isLocked()]).toEqual(['Kept', false]);
});

it('an entry that a colleague has withdrawn isn’t published again; its text stays, as a new entry', async () => {
  entries = [entry(3)];
  open();
  await edit(3);
  await write('Entry 3, corrected');
  accept = () => Promise.reject(Object.assign(new Error('withdrawn'), { code: 'newsroom_entry_withdrawn' }));
  button('Update (Ctrl+Enter)').click();
  await vi.waitFor(() => expect(text()).toContain('A colleague has withdrawn this entry. Your text is still here'));
  expect(headline()).toBe('Entry 3, corrected');
  accept = () => ({ id: 4 });
  button('Publish (Ctrl+Enter)').click();
  await vi.waitFor(() => expect(headline()).toBe(''));
  expect(saved.map(({ path }) => path)).toEqual(['/wp/v2/live-entries/3', '/wp/v2/live-entries']);
});

it('an entry is opened with the editor’s own newer changes that weren’t published', async () => {
  entries = [entry(3)];
  const autosave = (author: number, at: string, title: string) => ({
    author,
    modified_gmt: `2026-11-25T${at}:00`,
    title: { raw: title },
    content: { raw: 'Other text.' },
  });
  autosaves = [autosave(6, '13:09', 'Of a colleague'), autosave(5, '12:00', 'Outdated')];
  open();
  await edit(3);
  button('Write a new entry').click();
  await vi.waitFor(() => expect(headline()).toBe(''));
  autosaves = [autosave(6, '13:09', 'Of a colleague'), autosave(5, '13:05', 'Mine')];
  await edit(3, 'Mine');
  expect(text()).toContain('These are your changes that aren’t published yet.');
  button('Update (Ctrl+Enter)').click();
  await vi.waitFor(() => expect(saved.at(-1)?.data).toMatchObject({ title: 'Mine', content: 'Other text.' }));
});

it('an update changes only the flags that were changed in the editor, and a flag that is set in the list shows there', async () => {
  entries = [entry(3)];
  open();
  await edit(3);
  button('Pin: Entry 3').click();
  await vi.waitFor(() => expect(saved.at(-1)?.data).toEqual({ meta: { newsroom_pinned: true } }));
  await vi.waitFor(() => expect(flag('Pinned').checked).toBe(true));
  flag('Key event').click();
  await vi.waitFor(() => expect(flag('Key event').checked).toBe(true));
  button('Update (Ctrl+Enter)').click();
  await vi.waitFor(() => expect(saved).toHaveLength(2));
  expect(saved[1]?.data?.meta).toEqual({ newsroom_story: 7, newsroom_author: 0, newsroom_key_event: true });
});

it('a flag of a draft is saved again only when it changes', async () => {
  entries = [entry(2, 'draft')];
  open();
  await edit(2);
  const flags = () => saved.map(({ data }) => (data?.meta as Record<string, unknown> | undefined)?.newsroom_pinned);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    for (const [checked, sent] of [
      [true, [true]],
      [false, [true, false]],
    ] as const) {
      flag('Pinned').click();
      await vi.waitFor(() => expect(flag('Pinned').checked).toBe(checked));
      for (let wait = 0; wait < 3; wait++) await vi.advanceTimersByTimeAsync(4000);
      expect(flags()).toEqual(sent);
    }
  } finally {
    vi.useRealTimers();
  }
});
