/** Pages that other nodes of a cluster have rendered, as a press takes them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { html, pageOf, press, tempDir } from '../testing.ts';
import type { PageShare } from './page-share.ts';

let folder: ReturnType<typeof tempDir>;
beforeEach(() => {
  folder = tempDir();
});
afterEach(() => folder.remove());

it('a page from another node of the cluster stays cached even if that node’s clock is ahead', async () => {
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
  const fixture = press(folder.dir, { render, share, onDemand: () => true, now: () => now }, { now: () => now });
  try {
    await fixture.press.get('/?page=2', 'public');
    await fixture.press.invalidate(['other']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeDefined();
    expect(taken).toBe(1);
  } finally {
    await fixture.close();
  }
});

it('a node shares a page that may be stored, and gives up its claim to one that may not or that fails', async () => {
  const given: (string | undefined)[] = [];
  const share: PageShare = {
    take: async () => ({ shared: null, give: (rendered) => void given.push(rendered?.page.key) }),
  };
  const render = async (key: string) => {
    if (key === '/broken') throw new Error('The page broke.');
    return { ...html('of this node'), storable: key !== '/own' };
  };
  const fixture = press(folder.dir, { render, share });
  try {
    await fixture.press.get('/', 'public');
    await fixture.press.get('/own', 'public');
    await expect(fixture.press.get('/broken', 'public')).rejects.toThrow();
    expect(given).toEqual(['/', undefined, undefined]);
  } finally {
    await fixture.close();
  }
});
