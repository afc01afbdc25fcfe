/**
 * A synthetic WordPress in a process of its own: `node bench/publish/wordpress.ts <articles>`. Edits come from the bench
 * and live in memory; how long each answer about a single document took is kept until the bench asks for it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseKey } from '../../tests/fixtures/wordpress.ts';
import { sectionSlugs } from '../content/synthetic.ts';
import { serve } from '../support/processes.ts';
import { createEdition, type Edit, frontId, type Json, topStoriesId } from './edition.ts';

const count = Number(process.argv[2]);
if (!Number.isSafeInteger(count) || count < 1) throw new Error('usage: node bench/publish/wordpress.ts <articles>');

const edition = createEdition(count);
const collections: Record<string, { ids: () => number[]; one: (id: number, base: string) => Json | null }> = {
  articles: { ids: edition.ids, one: edition.article },
  authors: { ids: edition.authorIds, one: edition.author },
  fronts: { ids: () => [frontId], one: edition.front },
  pages: { ids: () => [topStoriesId], one: edition.page },
};

const categories = sectionSlugs.map((slug, index) => ({
  id: index + 1,
  name: slug,
  slug,
  newsroom: { label: '', navigation_position: index + 1, home_count: 4, color: 'default', show_in_media: true },
}));

/** A page of a list; `null` where the plugin refuses the key. */
function list(kind: string, query: URLSearchParams, base: string): { items: unknown[]; total: number } | null {
  const collection = collections[kind];
  // Between two webhooks nothing changes that a poll would have to find.
  if (!collection || query.has('modified_after')) return { items: [], total: 0 };
  const { ids, one } = collection;
  const ascending = query.get('order') === 'asc';
  const after = query.get('after_key');
  const key = after === null ? null : parseKey(after, query.get('orderby') ?? 'date');
  if (after !== null && !key) return null;
  let wanted = query.get('include')?.split(',').map(Number) ?? ids();
  // No date is earlier than that of a lower id.
  if (key) wanted = wanted.filter((id) => (ascending ? id > key.id : id < key.id));
  const total = wanted.length;
  if (!query.has('include')) {
    if (!ascending) wanted.reverse();
    const offset = Number(query.get('offset') ?? 0);
    wanted = wanted.slice(offset, offset + Number(query.get('per_page') ?? 10));
  }
  const fields = query.get('_fields')?.split(',');
  const items = wanted
    .map((id) => one(id, base))
    .filter((item) => item !== null)
    .map((item): Json => ({ ...item, date: item.date_gmt, modified: item.modified_gmt }));
  return {
    items: fields ? items.map((item) => Object.fromEntries(fields.map((field) => [field, item[field]]))) : items,
    total,
  };
}

let taken: number[] = [];

const server = createServer((request, response) => {
  const began = performance.now();
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const path = url.pathname.replace(/^\/wp-json/u, '');
  const single = /^\/wp\/v2\/([a-z]+)\/(\d+)$/u.exec(path);
  const send = (status: number, body: unknown, total = 1): void => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=UTF-8', 'X-WP-Total': String(total) });
    response.end(JSON.stringify(body));
  };
  if (single) {
    response.once('finish', () => taken.push(performance.now() - began));
    const found = collections[single[1] ?? '']?.one(Number(single[2]), url.origin);
    if (found) send(200, found);
    else send(404, { code: 'rest_post_invalid_id', message: 'Invalid post ID.', data: { status: 404 } });
  } else if (path === '/newsroom/v1/status') send(200, { plugin: 'bench', credentials: true });
  else if (path === '/wp/v2/categories') send(200, categories, categories.length);
  else {
    const found = list(path.replace('/wp/v2/', ''), url.searchParams, url.origin);
    if (found) send(200, found.items, found.total);
    else send(400, { code: 'rest_invalid_param', message: 'Invalid parameter(s): after_key', data: { status: 400 } });
  }
});

const listening = new Promise<number>((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
});

serve<{ edit: Edit } | { get: 'port' | 'taken' }>((message) => {
  if ('edit' in message) return edition.edit(message.edit);
  if (message.get === 'port') return listening;
  const answer = taken;
  taken = [];
  return answer;
});
