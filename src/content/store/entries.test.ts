import { expect, it, onTestFinished } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from './content-store.server.ts';
import { applyEntries, type ContentEntry, entryName } from './entries.server.ts';

it('an entry of the content log replaces only one about the same content, cursor or fact', () => {
  const entries: readonly ContentEntry[] = [
    { kind: 'withdrawal', type: 'articles', id: 1, fetched: { at: 1, clock: 1 } },
    { kind: 'withdrawal', type: 'articles', id: 2, fetched: { at: 1, clock: 1 } },
    { kind: 'comment-withdrawal', id: 1 },
    { kind: 'comment-withdrawal', id: 2 },
    { kind: 'rejection-end', type: 'articles', id: 1 },
    { kind: 'rejection-end', type: 'articles', id: 2 },
    { kind: 'rejection-end', type: 'video', id: 1 },
    { kind: 'sections', sections: [] },
    { kind: 'menus', menus: [] },
    { kind: 'former-slug', type: 'articles', slug: 'a', id: 1 },
    { kind: 'former-slug', type: 'articles', slug: 'b', id: 1 },
    { kind: 'former-slug', type: 'video', slug: 'a', id: 1 },
    { kind: 'cursor', name: 'poll:articles', value: 1 },
    { kind: 'cursor', name: 'walk:articles', value: 1 },
    { kind: 'meta', key: 'alert', value: '', tags: [] },
    { kind: 'meta', key: 'quotes', value: '', tags: [] },
  ];
  const names = entries.map((entry) => Object.values(entryName(entry)).join(' '));
  expect(new Set(names).size).toBe(entries.length);
  expect(entryName({ kind: 'cursor', name: 'poll:articles', value: 2 })).toEqual(
    entryName(entries[12] as ContentEntry),
  );
});

it('a replaced picture file is measured again, under all its addresses; an unnamed change concerns all files', () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  onTestFinished(store.close);
  const urls = () =>
    store
      .prepare('SELECT url FROM measured ORDER BY url')
      .all()
      .map(({ url }) => url);
  const file = 'https://cms.example/a.jpg';
  const others = ['https://cms.example/a.jpg.webp', 'https://cms.example/b.jpg'];
  for (const url of [file, `${file}?ver=2`, ...others]) {
    store.prepare('INSERT INTO measured VALUES (?, 640, 480)').run(url);
  }
  const changed = (value: string) => applyEntries(store, [{ kind: 'meta', key: 'changed-files', value, tags: [] }]);
  applyEntries(store, [{ kind: 'meta', key: 'quotes', value: '', tags: [] }]);
  expect(urls()).toHaveLength(4);
  changed(JSON.stringify([file]));
  expect(urls()).toEqual(others);
  changed('');
  expect(urls()).toEqual([]);
});
