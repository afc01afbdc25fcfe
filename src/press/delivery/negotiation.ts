/** Content negotiation by encoding, and validators (RFC 9110, sections 12.5.3 and 13.1.2). */
import { createBoundedMap } from '../cache/bounded-map.ts';
import { type Encoding, encodings } from '../store/stored-page.ts';

const known = createBoundedMap<readonly Encoding[]>(256);
const identityOnly: readonly Encoding[] = ['identity'];
/** Longer ones are parsed each time and never kept. */
const longestKept = 256;

/**
 * Encodings that an `Accept-Encoding` header takes, the most wanted first. `identity` is always among them, last where
 * it is refused: a page is sent rather than a 406. Without the header nothing is compressed.
 */
export function acceptedEncodings(header: string | undefined): readonly Encoding[] {
  if (header === undefined) return identityOnly;
  const before = known.get(header);
  if (before) return before;
  const parsed = parse(header);
  if (header.length <= longestKept) known.set(header, parsed);
  return parsed;
}

function parse(header: string): readonly Encoding[] {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = qualityOf(parameters);
    if (coding === '' || quality === null) continue;
    const name = coding === 'x-gzip' ? 'gzip' : coding;
    qualities.set(name, Math.max(quality, qualities.get(name) ?? 0));
  }
  const any = qualities.get('*');
  const wish = (encoding: Encoding): number => {
    const own = qualities.get(encoding);
    if (own !== undefined) return own;
    // Identity that is not spoken of is taken, but after whatever is asked for.
    if (encoding === 'identity') return any === 0 ? 0 : 0.0001;
    return any ?? 0;
  };
  const taken = encodings.filter((encoding) => encoding === 'identity' || wish(encoding) > 0);
  // A stable sort: of equal wishes the better encoding comes first.
  return taken.sort((a, b) => wish(b) - wish(a));
}

/** `null` for a quality that is none: the coding is then as good as not named. */
function qualityOf(parameters: readonly string[]): number | null {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (given === undefined) return 1;
  const text = given.slice(given.indexOf('=') + 1).trim();
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : null;
}

/** Whether `If-None-Match` names this ETag: a list or `*`, compared weakly. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  // What browsers send nearly always: the one ETag, just as it was given.
  if (header === etag) return true;
  if (header.trim() === '*') return true;
  const bare = etag.startsWith('W/') ? etag.slice(2) : etag;
  // An entity tag may hold a comma, so that the list cannot be split at commas alone.
  for (const [candidate] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g)) if (candidate === bare) return true;
  return false;
}
