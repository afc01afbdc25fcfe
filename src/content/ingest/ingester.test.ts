import { afterEach, describe, expect, it } from 'vitest';
import { wireComment, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import { PoolClosed } from '../../lib/workers/pool.server.ts';
import type { IngestContext } from './ingest.server.ts';
import { createLocalIngester, createThreadedIngester, type Ingester } from './ingester.server.ts';

const context: IngestContext = {
  wordpress: 'https://cms.example',
  site: 'https://sun.example',
  frameHosts: [],
  measure: async () => ({ width: 640, height: 480 }),
};
let threaded: Ingester | null = null;
afterEach(() => threaded?.close());

describe('the threaded ingester', () => {
  it('gives the same results as the local ingester, in any order', async () => {
    threaded = createThreadedIngester(context, silent);
    const local = createLocalIngester(context);
    const raws = Array.from({ length: 40 }, (_, index) =>
      wirePost({
        id: index + 1,
        content: { rendered: `<p onclick="x">Story ${index}</p><img src="/${index}.jpg">` },
        access: index === 7 ? 'gold' : 'free',
      }),
    );
    const [there, here] = await Promise.all(
      [threaded, local].map((one) => Promise.all(raws.map((raw) => one.document('articles', raw)))),
    );
    expect(there).toEqual(here);
    expect(there?.[7]).toMatchObject({ kind: 'rejected' });
    expect(there?.[0]).toMatchObject({ document: { bodyHtml: expect.stringContaining('width="640" height="480"') } });
    const comment = wireComment({ id: 1, post: 1 });
    expect(await threaded.comment(comment)).toEqual(await local.comment(comment));
    expect(await threaded.lines(['A &amp; B'])).toEqual(['A & B']);
    await local.close();
  });

  it('rejects every pending call when it is closed, and every later one', async () => {
    threaded = createThreadedIngester(context, silent);
    const waiting = Array.from({ length: 20 }, (_, index) =>
      threaded?.document('articles', wirePost({ id: index + 1 })),
    );
    const settled = Promise.allSettled(waiting);
    await threaded.close();
    const closed = { status: 'rejected', reason: expect.any(PoolClosed) };
    expect(await settled).toEqual(Array(20).fill(closed));
    await expect(threaded.document('articles', wirePost({ id: 1 }))).rejects.toThrow(PoolClosed);
  });

  it('continues after a document that crashes its thread', async () => {
    const messages: string[] = [];
    const log = { ...silent, error: (_context: object, message: string) => void messages.push(message) };
    threaded = createThreadedIngester(
      context,
      log,
      new URL('../../../tests/fixtures/failing.worker.ts', import.meta.url),
    );
    expect(await threaded.document('articles', { id: 1 })).toMatchObject({ id: 1 });
    const outcomes = await Promise.allSettled([2, 3, 4, 5, 6, 7].map((id) => threaded?.document('articles', { id })));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
    expect(messages.length).toBe(2);
    expect(await threaded.document('articles', { id: 8 })).toMatchObject({ id: 8 });
  });
});
