/**
 * WordPress keeps slugs percent-encoded in lower case (`%d8%b3…`), routers hand them over decoded. Both forms of one slug
 * become the same key here; the encoded form is what the content store holds, because it may stand in a path and in a header.
 */
export function canonicalSlug(slug: string): string {
  let decoded = slug;
  try {
    decoded = decodeURIComponent(slug);
  } catch {
    // A stray per cent sign: the slug is taken as it stands.
  }
  return encodeURIComponent(decoded.toWellFormed().normalize('NFC').toLowerCase()).replace(/%[0-9A-F]{2}/gu, (code) =>
    code.toLowerCase(),
  );
}
