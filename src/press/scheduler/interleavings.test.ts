/**
 * The press against a model, under random interleavings: in any order, no request after a change was reported as fresh gets the
 * old page, no withdrawn content is ever served, and no page is rendered twice at once.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../tests/world/runs.ts';
import { html, press, readText, tempDir } from '../testing.ts';
import type { Rendering } from './render.server.ts';

const keys = ['/a', '/b', '/c'] as const;
type Key = (typeof keys)[number];
/** The tags that each page shows. */
const shows: Record<Key, readonly string[]> = { '/a': ['x'], '/b': ['x', 'y'], '/c': ['y', 'z'] };
const tags = ['x', 'y', 'z'] as const;

type Step =
  | { readonly do: 'get'; readonly key: Key }
  | { readonly do: 'edit'; readonly tag: string }
  | { readonly do: 'withdraw'; readonly tag: string }
  | { readonly do: 'restore'; readonly tag: string }
  | { readonly do: 'break' | 'mend' | 'breathe' | 'restart' };

const oneOf = fc.constantFrom;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('get' as const), key: oneOf(...keys) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('edit' as const), tag: oneOf(...tags) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('withdraw' as const), tag: oneOf(...tags) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restore' as const), tag: oneOf(...tags) }) },
  { weight: 1, arbitrary: fc.record({ do: oneOf('break' as const, 'mend' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('breathe' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

async function play(steps: readonly Step[], delays: readonly number[], storeTogether: number): Promise<void> {
  const folder = tempDir();
  /** The content: number of the latest edit of each tag, and which tags are withdrawn. */
  const content = new Map<string, number>(tags.map((tag) => [tag, 0]));
  const withdrawn = new Set<string>();
  /** The edit of each tag that all pages with the tag were reported to show. */
  const promised = new Map<string, number>(tags.map((tag) => [tag, 0]));
  const rendering = new Set<string>();
  let broken = false;
  let delay = 0;

  async function render(key: string, variant: string): Promise<Rendering> {
    expect(rendering.has(`${key} ${variant}`), 'one render of a page at a time').toBe(false);
    rendering.add(`${key} ${variant}`);
    try {
      const shown = shows[key as Key];
      const gone = shown.some((tag) => withdrawn.has(tag));
      const text = JSON.stringify({ gone, seen: Object.fromEntries(shown.map((tag) => [tag, content.get(tag)])) });
      const turns = delays[delay++ % delays.length] ?? 0;
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      if (broken) throw new Error('broken');
      return { ...html(text), status: gone ? 410 : 200, tags: shown };
    } finally {
      rendering.delete(`${key} ${variant}`);
    }
  }

  const retry = { baseMs: 1, capMs: 5 };
  const open = () => press(folder.dir, { render, concurrency: 2, storeTogether, retry, everything: 'site' });
  let fixture = open();
  const underWay = new Set<Promise<unknown>>();
  const follow = (promise: Promise<unknown>): void => {
    const followed = promise.finally(() => underWay.delete(followed));
    underWay.add(followed);
  };

  async function get(key: Key): Promise<void> {
    const least = new Map(promised);
    const hidden = new Set(withdrawn);
    const current = fixture;
    let text: string;
    try {
      text = await readText(current.press, key);
    } catch {
      // A broken render, or a press that stops: an error isn't a wrong page.
      return;
    }
    const page = JSON.parse(text) as { gone: boolean; seen: Record<string, number> };
    for (const tag of shows[key]) {
      expect(page.seen[tag], `${key} must not show an older ${tag}`).toBeGreaterThanOrEqual(least.get(tag) ?? 0);
      // Withdrawn when the request was made, and still when the answer arrived: the page must not show it.
      if (hidden.has(tag) && withdrawn.has(tag)) expect(page.gone, `${key} shows withdrawn ${tag}`).toBe(true);
    }
  }

  async function change(tag: string, gone: boolean): Promise<void> {
    const edit = (content.get(tag) ?? 0) + 1;
    content.set(tag, edit);
    const result = await fixture.press.invalidate([tag], gone ? { withdrawn: [tag] } : {});
    if (result.failed === 0) promised.set(tag, Math.max(promised.get(tag) ?? 0, edit));
  }

  try {
    // The pages exist from the start, so that short sequences can go wrong, too.
    for (const key of keys) await readText(fixture.press, key);
    for (const one of steps) {
      if (one.do === 'get') follow(get(one.key));
      else if (one.do === 'edit') follow(change(one.tag, false));
      else if (one.do === 'withdraw') {
        withdrawn.add(one.tag);
        follow(change(one.tag, true));
      } else if (one.do === 'restore') {
        withdrawn.delete(one.tag);
        follow(change(one.tag, false));
      } else if (one.do === 'break' || one.do === 'mend') broken = one.do === 'break';
      else if (one.do === 'breathe') await new Promise((resolve) => setImmediate(resolve));
      else {
        const old = fixture;
        await old.close();
        await Promise.all(underWay);
        fixture = open();
      }
    }
    broken = false;
    await Promise.all(underWay);
    const end = performance.now() + 60_000;
    while (fixture.press.stats().queue > 0 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 1));
    // When everything has come to rest, every page shows the latest edit of each of its tags.
    for (const key of keys) {
      const page = JSON.parse(await readText(fixture.press, key)) as { gone: boolean; seen: Record<string, number> };
      expect(page.gone).toBe(shows[key].some((tag) => withdrawn.has(tag)));
      for (const tag of shows[key]) expect(page.seen[tag]).toBe(content.get(tag));
    }
    expect(fixture.store.marked()).toEqual([]);
  } finally {
    await fixture.close();
    folder.remove();
  }
}

it(
  'the press serves no outdated or withdrawn page under random interleavings of requests, edits, and failures',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 40 }),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
        oneOf(1, 2),
        play,
      ),
      { numRuns: runs(40, 1000) },
    );
  },
  runs(60_000, 600_000),
);
