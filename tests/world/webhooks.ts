/** A content store that takes signed webhooks and preview links. */
import { createHmac } from 'node:crypto';
import type { Content, ContentChange } from '../../src/content/service.ts';
import { silent } from '../../src/lib/logging.ts';
import { contentOf } from '../fixtures/open-content.ts';
import { type FakeWordPress, fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';

export const secret = 'a shared secret';
export let wordpress: FakeWordPress;
export let content: Content;
export const changes: ContentChange[] = [];
/** Sizes of picture files, by their addresses. */
export const pictures = new Map<string, { width: number; height: number }>();
/** The site's clock. */
export const clock = { now: 0 };

export const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');

export let errors: unknown[];
export let logged: { message: string; context: Record<string, unknown> }[];

export async function openWithStories(): Promise<void> {
  wordpress = fakeWordPress();
  changes.length = 0;
  pictures.clear();
  logged = [];
  errors = [];
  clock.now = Date.UTC(2026, 10, 21, 12);
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= 9; id++)
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }] }) });
  open();
  await content.syncNow();
  changes.length = 0;
  wordpress.requests.length = 0;
}

export function open(): void {
  const keep = (context: object, message: string): void =>
    void logged.push({ message, context: context as Record<string, unknown> });
  content = contentOf(wordpress, {
    secret,
    measure: async (url) => pictures.get(url) ?? null,
    log: { ...silent, warn: keep, error: (context) => void errors.push((context as { error?: string }).error) },
    now: () => clock.now,
    onChange: (change) => void changes.push(change),
  });
}

export const edit = (id: number, part: Json): Json =>
  wordpress.put('articles', { ...wordpress.store.articles.get(id), id, ...part });
