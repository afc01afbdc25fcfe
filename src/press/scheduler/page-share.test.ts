/** Pages that other nodes of a cluster have rendered, as a press takes them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { html, pageOf, press, tempDir } from '../testing.ts';
import type { PageShare } from './page-share.ts';

let folder: ReturnType<typeof tempDir>;
beforeEach(() => {
  folder = tempDir();
});
afterEach(() => folder.remove());

it('stay in the cache though the clock of the node that rendered them is ahead', async () => {
  const now = Date.now();
  const { page, bodies } = await pageOf('/?page=2', 'of another node', ['list']);
  let taken = 0;
  const share: PageShare = {
    async take() {
      taken++;
      return { shared: { page: { ...page, renderedAt: now + 600_000 }, bodies }, give() {} };
    },
  };
  const render = async () => html('of this node');
  const bench = press(folder.dir, { render, share, onDemand: () => true, now: () => now }, { now: () => now });
  try {
    await bench.press.get('/?page=2', 'public');
    await bench.press.invalidate(['other']);
    expect(bench.press.peek('/?page=2', 'public')).toBeDefined();
    expect(taken).toBe(1);
  } finally {
    await bench.close();
  }
});
