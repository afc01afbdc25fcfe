import { expect, it } from 'vitest';
import { type ContentEntry, entryName } from './entries.server.ts';

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
