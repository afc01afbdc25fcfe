/**
 * A local REST server of synthetic articles, in a process of its own so that its work is not counted as sync's.
 * `node bench/content/server.ts <articles>` prints its port as one line of JSON.
 */
import { createServer } from 'node:http';
import { parseKey } from '../../tests/fixtures/wordpress.ts';
import { article, firstId, sectionSlugs } from './synthetic.ts';

const count = Number(process.argv[2]);
if (!Number.isSafeInteger(count) || count < 1) throw new Error('usage: node bench/content/server.ts <articles>');

/** An article in a list; WordPress's time zone is UTC. */
const listed = (index: number, base: string): Record<string, unknown> => {
  const made = article(index, base);
  return { ...made, date: made.date_gmt, modified: made.modified_gmt };
};

const light = (index: number): unknown => {
  const { id, modified, modified_gmt, slug, status } = listed(index, '');
  return { id, modified, modified_gmt, slug, status };
};

/** A page of articles; `null` where the plugin refuses the key. */
function articles(query: URLSearchParams, base: string): { items: unknown[]; total: number } | null {
  const fields = query.has('_fields');
  const shape = (index: number): unknown => (fields ? light(index) : listed(index, base));
  const include = query.get('include')?.split(',').map(Number);
  if (include)
    return {
      items: include.filter((id) => id >= firstId && id < firstId + count).map((id) => shape(id - firstId)),
      total: include.length,
    };
  // Nothing changes while the bench runs.
  if (query.has('modified_after')) return { items: [], total: 0 };
  const size = Number(query.get('per_page') ?? 10);
  const ascending = query.get('order') === 'asc';
  const after = query.get('after_key');
  const key = after === null ? null : parseKey(after, query.get('orderby') ?? 'date');
  if (after !== null && !key) return null;
  // A higher id has a later date.
  const before = key ? (ascending ? key.id - firstId + 1 : firstId + count - key.id) : 0;
  const offset = before + Number(query.get('offset') ?? 0);
  const items: unknown[] = [];
  for (let at = offset; at < Math.min(count, offset + size); at++) items.push(shape(ascending ? at : count - 1 - at));
  return { items, total: count - before };
}

const categories = sectionSlugs.map((slug, index) => ({
  id: index + 1,
  name: slug,
  slug,
  newsroom: { label: '', navigation_position: index + 1, home_count: 4, color: 'default', show_in_media: true },
}));

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const path = url.pathname.replace(/^\/wp-json/u, '');
  let answer: { items: unknown; total: number } | null = { items: [], total: 0 };
  if (path === '/newsroom/v1/status') answer = { items: { plugin: 'bench', credentials: true }, total: 1 };
  else if (path === '/wp/v2/articles') answer = articles(url.searchParams, url.origin);
  else if (path === '/wp/v2/categories') answer = { items: categories, total: categories.length };
  const type = { 'Content-Type': 'application/json; charset=UTF-8' };
  if (answer) response.writeHead(200, { ...type, 'X-WP-Total': String(answer.total) });
  else response.writeHead(400, type);
  response.end(JSON.stringify(answer ? answer.items : { code: 'rest_invalid_param', data: { status: 400 } }));
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
// Ends with the process that started it.
process.stdin.resume().on('end', () => process.exit(0));
