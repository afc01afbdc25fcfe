/** Content encodings that a browser takes. */

export type Encoding = 'br' | 'gzip';

/** The best encoding of an `Accept-Encoding` header: brotli, then gzip, then none; `q=0` refuses one. */
export function bestEncoding(header: string | undefined): Encoding | null {
  if (!header) return null;
  const refused = new Set<string>();
  const taken = new Set<string>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.trim().split(/\s*;\s*/);
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    (quality && Number(quality.slice(2)) === 0 ? refused : taken).add(name);
  }
  for (const encoding of ['br', 'gzip'] as const) {
    if (!refused.has(encoding) && (taken.has(encoding) || taken.has('*'))) return encoding;
  }
  return null;
}

/** Whether `If-None-Match` names this ETag; weak and strong forms match (RFC 9110, section 13.1.2). */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  const bare = etag.replace(/^W\//, '');
  return header.split(',').some((one) => {
    const candidate = one.trim();
    return candidate === '*' || candidate.replace(/^W\//, '') === bare;
  });
}

/** Whether bytes of this media type become smaller by compression. */
export const isCompressible = (type: string): boolean =>
  /^(?:text\/|application\/(?:json|javascript|manifest\+json|(?:[a-z.+-]+\+)?xml|ld\+json)|image\/svg\+xml)/.test(type);
