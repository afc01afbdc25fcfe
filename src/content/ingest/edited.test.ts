import { expect, it, onTestFinished } from 'vitest';
import { wirePost } from '../../../tests/fixtures/wordpress.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from '../store/content-store.server.ts';
import { createReader } from '../store/reader.server.ts';
import { storeDocument } from '../store/write.server.ts';
import { ingestDocument } from './ingest.server.ts';

const published = { date_gmt: '2026-11-20T08:00:00', modified_gmt: '2026-11-20T14:00:00' };

it.each([
  ['the last edit, not what WordPress changed later', '2026-11-20T09:00:00', '2026-11-20T09:00:00.000Z'],
  ['its date, if it was written before', '2026-11-19T09:00:00', '2026-11-20T08:00:00.000Z'],
  ['the last change, without the field', undefined, '2026-11-20T14:00:00.000Z'],
  ['the last change, if the field is no time', '-0001-11-30T00:00:00', '2026-11-20T14:00:00.000Z'],
])('readers see as a story’s last change %s', async (_name, edited, seen) => {
  const post = wirePost({ id: 1, slug: 'a', ...published, edited });
  const result = await ingestDocument(sanitizer, 'articles', post, plainContext);
  if (result.kind !== 'document') throw new Error(result.kind);
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  onTestFinished(() => store.close());
  storeDocument(store, result.document, { at: 1, clock: 0 });
  expect(new Date(createReader(store).article('a')?.modified ?? 0).toISOString()).toBe(seen);
  // Sync goes on comparing with WordPress's own time.
  const row = store.prepare('SELECT modified FROM documents WHERE id = 1').get();
  expect(Date.parse(String(row?.modified))).toBe(Date.parse('2026-11-20T14:00:00Z'));
});
