/** Content codings and validators that the requests name (RFC 9110, sections 12.5.3 and 13.1.2). */
import { createHash } from 'node:crypto';
import { createBoundedMap } from '../bounded-map.ts';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The best first; the position is also the number in the press's store. */
export const encodings: readonly Encoding[] = ['br', 'gzip', 'identity'];

const known = createBoundedMap<readonly Encoding[]>(256);
const identityOnly: readonly Encoding[] = ['identity'];
/** Longer headers are parsed each time and not cached. */
export const longestKept = 256;

/**
 * Encodings that an `Accept-Encoding` header accepts, in order of preference. `identity` is always included, last if the header
 * refuses it: the server prefers sending a page to a 406. Without the header, nothing is compressed.
 */
export function acceptedEncodings(header: string | undefined): readonly Encoding[] {
  if (header === undefined) return identityOnly;
  const before = known.get(header);
  if (before) return before;
  const parsed = parse(header);
  if (header.length <= longestKept) known.set(header, parsed);
  return parsed;
}

/** The quality of each coding or media type that `Accept-Encoding` or `Accept` names, from 0 to 1; 0 refuses it. */
export function qualitiesOf(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = qualityOf(parameters);
    if (coding === '' || quality === null) continue;
    const name = coding === 'x-gzip' ? 'gzip' : coding;
    qualities.set(name, Math.max(quality, qualities.get(name) ?? 0));
  }
  return qualities;
}

function parse(header: string): readonly Encoding[] {
  const qualities = qualitiesOf(header);
  const any = qualities.get('*');
  const preference = (encoding: Encoding): number => {
    const own = qualities.get(encoding);
    if (own !== undefined) return own;
    // If the header doesn't name identity, it is acceptable, after everything that the header names.
    if (encoding === 'identity') return any === 0 ? 0 : 0.0001;
    return any ?? 0;
  };
  const taken = encodings.filter((encoding) => encoding === 'identity' || preference(encoding) > 0);
  // The sort is stable: of equal preferences the better encoding comes first.
  return taken.sort((a, b) => preference(b) - preference(a));
}

/** `null` for an invalid quality: the coding then counts as not named. */
function qualityOf(parameters: readonly string[]): number | null {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (given === undefined) return 1;
  const text = given.slice(given.indexOf('=') + 1).trim();
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : null;
}

/** Whether `If-None-Match` names this ETag: a list or `*`, compared weakly. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  // Browsers nearly always send exactly the ETag that they received.
  if (header === etag) return true;
  if (header.trim() === '*') return true;
  const bare = etag.startsWith('W/') ? etag.slice(2) : etag;
  // An entity tag may contain a comma, so splitting the list at commas isn't enough.
  for (const [candidate] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g)) if (candidate === bare) return true;
  return false;
}

/** Whether compression reduces bytes of this media type. */
export const isCompressible = (type: string): boolean =>
  /^(?:text\/|application\/(?:json|javascript|xml|[a-z.+-]+\+(?:json|xml))|image\/svg\+xml)/.test(type);

/** 22 characters of SHA-256: 132 bits, enough against collisions. Base of the ETags of files, pages and pictures. */
export const hashOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
