/** A committed change whose report was interrupted is reported again by the next process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import { fakeWordPress, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import type { ContentChange } from '../service.ts';
import { openContentStore } from '../store/content-store.server.ts';
import { createNotifier } from './notifier.server.ts';

it('changes that the previous process did not finish publishing are reported once by the next, with withdrawals', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const wordpress = fakeWordPress();
  const put = (id: number, status: string, modified: string): void => {
    const part = { id, slug: `a-${id}`, status, modified_gmt: modified, date_gmt: '2026-11-20T12:00:00' };
    wordpress.put('articles', { ...wirePost(part), id });
  };
  const open = (onChange: (change: ContentChange) => unknown, isDurable?: () => boolean) =>
    contentOf(wordpress, {
      file: join(folder, 'content.sqlite'),
      wordpress: { url: wordpress.url },
      onChange,
      isDurable,
    });
  try {
    put(1, 'publish', '2026-11-20T12:00:00');
    put(2, 'publish', '2026-11-20T12:00:00');
    const first = open(() => {});
    await first.syncNow();
    await first.stop();

    // The listener is told, and the process dies before the listener is done: nothing below waits for it.
    wordpress.remove('articles', 2);
    const heard = Promise.withResolvers<void>();
    const dying = open(() => {
      heard.resolve();
      return new Promise(() => {});
    });
    void dying.syncNow();
    await heard.promise;

    const reported: ContentChange[] = [];
    const next = open((change) => void reported.push(change));
    next.replay();
    next.replay();
    expect(reported).toHaveLength(1);
    expect(reported[0]?.withdrawn).toEqual([{ type: 'articles', slug: 'a-2' }]);
    expect(reported[0]?.withdrawnTags).toEqual(['article:2']);
    expect([...(reported[0]?.tags ?? [])]).toContain('article:2');
    await new Promise((resolve) => setImmediate(resolve));
    await next.stop();

    const after: ContentChange[] = [];
    // The report is complete but wasn't recorded: the next process reports the change again.
    const forgetful = open(
      (change) => void after.push(change),
      () => false,
    );
    forgetful.replay();
    expect(after).toEqual([]);
    put(1, 'publish', '2026-11-20T13:00:00');
    await forgetful.syncNow();
    await forgetful.stop();
    const last = open((change) => void after.push(change));
    last.replay();
    expect(after.map(({ tags }) => tags.has('article:1'))).toEqual([true, true]);
    await new Promise((resolve) => setImmediate(resolve));
    await last.stop();

    const silentOnes: ContentChange[] = [];
    const afterwards = open((change) => void silentOnes.push(change));
    afterwards.replay();
    expect(silentOnes).toEqual([]);
    await afterwards.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('a listener that ends after the stop causes a warning and no unhandled error', async () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const ended = Promise.withResolvers<void>();
  const warn = vi.fn();
  const notifier = createNotifier({ store, log: { ...silent, warn }, onChange: () => ended.promise });
  notifier.record({ tags: new Set(['latest']), withdrawn: [] });
  notifier.replay();
  store.close();
  ended.resolve();
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
});
