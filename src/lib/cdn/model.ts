/**
 * A page's tags for the CDN: the header of a page, and the keys of a purge. They are designed together: pages whose tags {@link
 * tagHeader} shortened to fit are still found by {@link purgeKeys}.
 *
 * A page with more tags than its header can hold gets coarser ones. All tags of one kind, `card:1 … card:900`, become
 * `any:card`; the kind that takes the most space is replaced first. If that isn't enough, the page has only the tag `any`. A
 * purge of `card:7` therefore names `card:7`, `any:card` and `any`: a page that lists the card is found by the first, a page
 * with coarser tags by the second or third. Such pages are refreshed more often than needed, but never too rarely.
 *
 * Limits: Cloudflare, "Purge cache by cache-tags" (16 KB of header, about 1,000 tags, 1,024 characters a tag, printable
 * ASCII, no spaces, letter case ignored); Fastly, "Surrogate-Key" (16,384 bytes of header, 1,024 bytes a key; the key that
 * crosses a limit and all after it are ignored).
 */
import { createHash } from 'node:crypto';
import { tag } from '../content/tags.ts';

export type CdnProvider = 'cloudflare' | 'fastly';

/** The tag of a page with too many tags even for coarser ones. */
const anyTag = 'any';
const longestTag = 1024;

/** What a page's tag header may hold. */
export interface TagLimits {
  /** Bytes of the header's value, separators included; 16,000 by default, which is under 16 KB in either reading. */
  readonly maxBytes: number;
  /** Number of tags, 1,000 by default. */
  readonly maxTags: number;
}

const vendorLimits: TagLimits = { maxBytes: 16_000, maxTags: 1000 };

export interface TagHeader {
  readonly name: 'Cache-Tag' | 'Surrogate-Key';
  readonly value: string;
  /** Kinds that were collapsed because the page has more tags than fit; `any` when all were. */
  readonly collapsed: readonly string[];
}

/**
 * One tag as both vendors take it: printable ASCII without space and comma, at most 1,024 bytes. Other characters are
 * percent-encoded, a longer tag is replaced by its hash. The same tag always gives the same key, and a key maps to itself.
 */
export function wireTag(tag: string): string {
  const plain = /^[!-+\--~]+$/.test(tag) ? tag : encoded(tag);
  if (plain.length <= longestTag) return plain;
  return `${kindOf(plain) ?? 'long'}:sha256-${createHash('sha256').update(plain).digest('hex')}`;
}

const encoded = (tag: string): string => tag.toWellFormed().replace(/[^!-+\--~]/gu, encodeURIComponent);

/** `card` of `card:12`; `null` for a tag without a kind, such as `latest`. A very long kind counts as none. */
function kindOf(key: string): string | null {
  const colon = key.indexOf(':');
  return colon > 0 && colon <= 64 ? key.slice(0, colon) : null;
}

const coarseTag = (kind: string): string => `${anyTag}:${kind}`;

/**
 * The header with a page's tags, for the CDN. Build it once, when the page is stored, not on every hit.
 *
 * @param provider `null` (headers without purging) uses Cloudflare's form, which others read too
 * @param limits smaller ones for a proxy between the site and the CDN: nginx as it comes takes 4 or 8 kB of headers in all
 */
export function tagHeader(
  provider: CdnProvider | null,
  tags: Iterable<string>,
  limits: Partial<TagLimits> = {},
): TagHeader {
  const { maxBytes, maxTags } = { ...vendorLimits, ...limits };
  const { name, separator } = headerForm(provider);
  const keys = new Set<string>([tag.site]);
  for (const each of tags) if (each !== '') keys.add(wireTag(each));

  const kinds = new Map<string, { bytes: number; count: number }>();
  let bytes = -1;
  for (const key of keys) {
    bytes += key.length + 1;
    const kind = kindOf(key);
    if (kind === null) continue;
    const sum = kinds.get(kind) ?? { bytes: 0, count: 0 };
    kinds.set(kind, { bytes: sum.bytes + key.length + 1, count: sum.count + 1 });
  }

  let count = keys.size;
  const collapsed = new Set<string>();
  const largestFirst = [...kinds].sort(([a, x], [b, y]) => y.bytes - x.bytes || (a < b ? -1 : 1));
  for (const [kind, sum] of largestFirst) {
    if (bytes <= maxBytes && count <= maxTags) break;
    if (kind === anyTag) continue;
    collapsed.add(kind);
    bytes += coarseTag(kind).length + 1 - sum.bytes;
    count += 1 - sum.count;
  }
  if (bytes > maxBytes || count > maxTags) {
    return { name, value: [tag.site, anyTag].join(separator), collapsed: [anyTag] };
  }
  const kept = [...keys].filter((key) => !collapsed.has(kindOf(key) ?? ''));
  return { name, value: [...kept, ...[...collapsed].map(coarseTag)].join(separator), collapsed: [...collapsed] };
}

/**
 * The headers of a file that is purged only by these tags, and not by a purge of all pages.
 *
 * @param varies the response depends on a header of the request, which its `Vary` names
 */
export function fileHeaders(
  provider: CdnProvider | null,
  tags: readonly string[],
  varies: boolean,
): Record<string, string> {
  const { name, separator } = headerForm(provider);
  return {
    [name]: tags.map(wireTag).join(separator),
    // Other CDNs ignore `Vary` unless a rule says otherwise, and would send one client's format to all.
    ...(varies && provider !== 'fastly' && { 'CDN-Cache-Control': 'no-store' }),
  };
}

const headerForm = (provider: CdnProvider | null) =>
  provider === 'fastly'
    ? ({ name: 'Surrogate-Key', separator: ' ' } as const)
    : ({ name: 'Cache-Tag', separator: ',' } as const);

/**
 * The keys that a purge of these tags must name, including coarser ones, without duplicates. Every page carries `site`, so a purge of it
 * needs no other key.
 */
export function purgeKeys(tags: Iterable<string>): string[] {
  const keys = new Set<string>();
  for (const each of tags) {
    if (each === '') continue;
    const key = wireTag(each);
    if (key === tag.site) return [tag.site];
    keys.add(key);
    const kind = kindOf(key);
    if (kind !== null) keys.add(coarseTag(kind));
  }
  if (keys.size > 0) keys.add(anyTag);
  return [...keys];
}

/**
 * All headers of a page that are for the CDN; browsers ignore them. Fastly reads `Surrogate-Control` and does not list
 * `CDN-Cache-Control` (RFC 9213) among what it reads, so it gets both.
 *
 * @param lifetime directives such as `max-age=86400, stale-while-revalidate=60`
 */
export function cdnHeaders(
  provider: CdnProvider | null,
  tags: Iterable<string>,
  lifetime: string,
): Record<string, string> {
  const header = tagHeader(provider, tags);
  return {
    'CDN-Cache-Control': lifetime,
    ...(provider === 'fastly' ? { 'Surrogate-Control': lifetime } : {}),
    [header.name]: header.value,
  };
}
