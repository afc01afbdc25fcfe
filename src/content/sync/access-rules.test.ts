/** Access rules for sections: anything that makes a story paid also removes its public page. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import { publication } from '../../publication.ts';
import type { Content, ContentChange, ContentOptions } from '../service.ts';

const rules = publication.access.sections as Record<string, 'free' | 'registered' | 'subscriber'>;
let folder: string;
let wordpress: FakeWordPress;
let content: Content;
let changes: ContentChange[];
let warned: unknown[];

async function start(options: Partial<ContentOptions> = {}): Promise<void> {
  await content?.stop();
  changes = [];
  content = contentOf(wordpress, {
    file: join(folder, 'content.sqlite'),
    log: { ...silent, warn: (context) => void warned.push((context as { rule?: string }).rule) },
    onChange: (change) => void changes.push(change),
    ...options,
  });
}

const put = (id: number, section: number, part: Json = {}): Json =>
  wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: section }], ...part }) });
const level = (id: number) => content.reader().article(`a-${id}`)?.access;
const withdrawnTags = (): string[] => changes.flatMap((change) => change.withdrawnTags ?? []);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'access-rules-'));
  wordpress = fakeWordPress();
  warned = [];
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  wordpress.put('categories', { id: 4, ...wireSection(4, 'columnists', 2) });
  put(1, 3);
  put(2, 4);
  put(5, 4, { access: 'free' });
  await start();
  await content.syncNow();
});
afterEach(async () => {
  await content.stop();
  for (const slug of Object.keys(rules)) delete rules[slug];
  rmSync(folder, { recursive: true, force: true });
});

describe('a new access rule', () => {
  it.each([
    ['with WordPress', {}],
    ['without WordPress', { wordpress: null }],
  ])('withdraws the public pages of its stories once, before the first request: %s', async (_, options) => {
    rules.columnists = 'subscriber';
    await start(options);
    content.replay();
    content.replay();
    expect(changes).toHaveLength(1);
    expect(withdrawnTags()).toEqual(['article:2']);
    expect([...(changes[0]?.tags ?? [])]).toEqual(expect.arrayContaining(['article:2', 'card:2']));
    expect(changes[0]?.isOwn).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    await start(options);
    content.replay();
    expect(changes).toEqual([]);
  });

  it('withdraws the pages again after a restart that interrupted the withdrawal', async () => {
    rules.columnists = 'subscriber';
    await start({ onChange: () => new Promise(() => {}) });
    content.replay();
    await start();
    content.replay();
    expect(withdrawnTags()).toEqual(['article:2']);
  });

  it('for a section that WordPress does not have is named in the log', async () => {
    rules.essays = 'subscriber';
    await start();
    expect(warned).toEqual(['essays']);
    await content.refresh('sections', 0);
    expect(warned).toEqual(['essays']);
  });
});

describe('a story', () => {
  beforeEach(async () => {
    rules.politics = 'registered';
    rules.columnists = 'subscriber';
    put(6, 3, { category: [] });
    await content.refresh('articles', 6);
    await start();
    content.replay();
    changes = [];
  });

  it('that is moved into a section with an access rule, or a stricter one, loses its public page', async () => {
    put(6, 3);
    await content.refresh('articles', 6);
    expect([level(6), withdrawnTags()]).toEqual(['registered', ['article:6']]);
    put(6, 4);
    await content.refresh('articles', 6);
    expect([level(6), withdrawnTags()]).toEqual(['subscriber', ['article:6', 'article:6']]);
    put(6, 3);
    await content.refresh('articles', 6);
    expect([level(6), withdrawnTags()]).toEqual(['registered', ['article:6', 'article:6']]);
  });

  it('that was free by its own setting loses its public page when it follows its section', async () => {
    put(5, 4);
    await content.refresh('articles', 5);
    expect([level(5), withdrawnTags()]).toEqual(['subscriber', ['article:5']]);
  });
});

describe('a section with an access rule', () => {
  beforeEach(async () => {
    rules.columnists = 'subscriber';
    await start();
    content.replay();
    changes = [];
  });

  it('keeps its stories’ access level when it leaves the navigation', async () => {
    wordpress.put('categories', { id: 4, ...wireSection(4, 'columnists', null) });
    await content.refresh('sections', 0);
    expect([level(2), content.reader().section('columnists'), warned]).toEqual(['subscriber', null, []]);
  });

  it('keeps its stories’ access level when its slug changes, and logs that once per start', async () => {
    wordpress.put('categories', { id: 4, ...wireSection(4, 'columns', 2) });
    await content.refresh('sections', 0);
    expect([level(2), content.reader().section('columns')?.slug]).toEqual(['subscriber', 'columns']);
    await content.refresh('articles', 2);
    expect(warned).toEqual(['columnists']);
    await start();
    expect([level(2), withdrawnTags(), warned]).toEqual(['subscriber', [], ['columnists', 'columnists']]);
  });

  it('that gets its slug from a rename withdraws the public pages of its stories', async () => {
    rules.politik = 'registered';
    wordpress.put('categories', { id: 3, ...wireSection(3, 'politik', 1) });
    await content.refresh('sections', 0);
    expect([level(1), withdrawnTags()]).toEqual(['registered', ['article:1']]);
  });
});
