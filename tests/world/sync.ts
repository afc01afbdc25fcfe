/** A sync with a WordPress in memory that has 130 stories. */

import type { Content, ContentChange, ContentOptions } from '../../src/content/service.ts';
import { silent } from '../../src/lib/logging.ts';
import { contentOf } from '../fixtures/open-content.ts';
import { type FakeWordPress, fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';

export let wordpress: FakeWordPress;
export let content: Content;
export const changes: ContentChange[] = [];
export let logged: { message: string; context: Record<string, unknown> }[];
/** The site's clock. */
export const clock = { now: 0 };

export function start(options: Partial<ContentOptions> = {}): Content {
  const keep = (context: object, message: string): void =>
    void logged.push({ message, context: context as Record<string, unknown> });
  content = contentOf(wordpress, {
    wordpress: { url: wordpress.url, user: 'site', password: 'secret', backOffMs: 1 },
    log: { ...silent, warn: keep, error: keep },
    pollSeconds: 1,
    now: () => clock.now,
    onChange: (change) => void changes.push(change),
    ...options,
  });
  return content;
}

export const date = (index: number): string =>
  new Date(Date.UTC(2026, 10, 1) + index * 3_600_000).toISOString().slice(0, 19);
export const put = (id: number, part: Json = {}): Json =>
  wordpress.put('articles', {
    id,
    ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }], date_gmt: date(id), ...part }),
  });
export const total = (): number => content.reader().articles({}).total;

export function fillWordPress(): void {
  wordpress = fakeWordPress();
  changes.length = 0;
  logged = [];
  clock.now = Date.UTC(2026, 10, 21, 12);
  // The clocks of WordPress and the site agree, as they should.
  wordpress.clockAhead = Math.round((clock.now - Date.now()) / 1000);
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= 130; id++) put(id);
}
