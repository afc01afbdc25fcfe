/**
 * Links in stored bodies to WordPress's own addresses. Ingest stores both the site's address and WordPress's. When a page is rendered,
 * the link leads to the document on the site, to WordPress if that is public, or becomes plain text.
 */
import type { DocumentType } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { fixedPages } from '../../lib/http/fixed-pages.ts';
import { canonicalSlug } from '../wire/values.ts';
import type { ContentStore } from './content-store.server.ts';

/** Attribute of a stored link with its address in WordPress; it never reaches a page. */
export const originalAddressAttribute = 'data-wordpress';

/** Prefix of ids and names in bodies, so that they can't collide with ids or names that the page's scripts and styles use. */
export const idPrefix = 'user-content-';

/** The hash of a link to a document: ids in bodies have a prefix, those of comments haven't. */
export const hashOnSite = (hash: string): string =>
  hash === '' || /^#(?:user-content-|comments$|comment-\d+$)/u.test(hash) ? hash : `#${idPrefix}${hash.slice(1)}`;

const prefixes: readonly (readonly [type: DocumentType, prefix: string])[] = [
  ['articles', '/article/'],
  ['video', '/media/'],
  ['authors', '/author/'],
  ['podcasts', '/podcast/'],
  ['crosswords', '/games/'],
];
const prefixOf = new Map(prefixes);
/** Pages that a story may link to; other pages of WordPress have no address on the site. */
const linkable: ReadonlySet<string> = new Set(fixedPages.filter(({ signedIn }) => !signedIn).map(({ path }) => path));

type Note = (tag: string) => void;

/** A link's start tag with its attributes; a serializer writes each of them as `name="value"`. */
const link = /<a((?:\s+[\w-]+="[^"]*")*)>([\s\S]*?)<\/a>/gu;

const decode = (value: string): string => value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
const encode = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Resolves the links of a body; calls `note` with the tags that they depend on. */
export function resolveLinks(html: string, store: ContentStore, note: Note = () => {}): string {
  if (!html.includes(originalAddressAttribute)) return html;
  const isPublic = store.getMeta('wordpress-public') === 'true';
  return html.replace(link, (whole: string, attributes: string, text: string) => {
    const read = (name: string): string | undefined => new RegExp(`\\s${name}="([^"]*)"`, 'u').exec(attributes)?.[1];
    const original = read(originalAddressAttribute);
    if (original === undefined) return whole;
    const here = siteAddressOf(decode(read('href') ?? ''), decode(original), store, note);
    if (here === null && !isPublic) return text;
    const rest = attributes.replace(/\s(?:href|rel|data-wordpress)="[^"]*"/gu, '');
    const href = here ?? decode(original);
    return `<a href="${encode(href)}"${here === null ? ' rel="noopener noreferrer"' : ''}${rest}>${text}</a>`;
  });
}

/** The link's target on the site; `null` when it doesn't exist. */
function siteAddressOf(href: string, original: string, store: ContentStore, note: Note): string | null {
  const { pathname, searchParams, hash } = new URL(original);
  const path =
    (href === original ? byQuery(searchParams, store, note) : byPath(href.split('#')[0] ?? '', store, note)) ??
    byFormerPath(pathname, store, note);
  return path === null ? null : path + hashOnSite(hash);
}

/** A permalink that a story had before WordPress was adopted: whole paths are among the former slugs. */
function byFormerPath(path: string, store: ContentStore, note: Note): string | null {
  const trimmed = path.replace(/\/+$/u, '');
  return trimmed === '' ? null : bySlug('articles', trimmed, store, note);
}

function byPath(path: string, store: ContentStore, note: Note): string | null {
  for (const [type, prefix] of prefixes) {
    if (path.startsWith(prefix)) return bySlug(type, path.slice(prefix.length), store, note);
  }
  if (path.startsWith('/section/')) return bySection(path.slice('/section/'.length), store, note);
  return linkable.has(path) ? path : null;
}

/** Plain permalinks: `?p=12`, `?page_id=12`, `?cat=3`. */
function byQuery(query: URLSearchParams, store: ContentStore, note: Note): string | null {
  const number = (name: string): number => Number(/^\d{1,15}$/u.exec(query.get(name) ?? '')?.[0] ?? 0);
  const id = number('p') || number('page_id');
  if (id > 0) {
    const row = store.prepare('SELECT type, slug FROM documents WHERE id = ? AND partial = 0').get(id);
    // Noted even if the document isn't published yet, when its type is unknown: the page is rendered again when it is.
    for (const each of [tag.card, tag.video, tag.profile, tag.podcast, tag.crossword]) note(each(id));
    return row ? bySlug(row.type as DocumentType, String(row.slug), store, note) : null;
  }
  const term = number('cat');
  if (term === 0) return null;
  note(tag.navigation);
  const row = store.prepare('SELECT slug FROM sections WHERE id = ? AND position IS NOT NULL').get(term);
  return row ? `/section/${row.slug}` : null;
}

function bySection(slug: string, store: ContentStore, note: Note): string | null {
  note(tag.navigation);
  const row = store
    .prepare(
      `SELECT slug, position FROM sections WHERE slug = ? OR EXISTS (SELECT 1 FROM json_each(former) WHERE value = ?)
      ORDER BY slug = ? DESC LIMIT 1`,
    )
    .get(slug, slug, slug);
  return row && row.position !== null ? `/section/${row.slug}` : null;
}

/** The current address of a document, for a current or a former slug. */
function bySlug(type: DocumentType, given: string, store: ContentStore, note: Note): string | null {
  const slug = canonicalSlug(given);
  const prefix = prefixOf.get(type);
  if (!prefix) return linkable.has(`/${slug}`) ? `/${slug}` : null;
  note(tag.slug(type, slug));
  const there = store.prepare('SELECT 1 FROM documents WHERE type = ? AND slug = ?').get(type, slug);
  if (there) return prefix + slug;
  const moved = store
    .prepare(
      `SELECT d.slug FROM old_slugs o JOIN documents d ON d.id = o.id AND d.type = o.type
      WHERE o.type = ? AND o.slug = ?`,
    )
    .get(type, slug);
  if (!moved) return null;
  note(tag.slug(type, String(moved.slug)));
  return prefix + String(moved.slug);
}
