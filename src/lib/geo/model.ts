/** Roughly where a reader is (spec section 7, `GET /api/geo`; the subscription metadata takes `geo_city`, `geo_country`). */

/** The answer of `GET /api/geo`, as it goes over the wire. */
export interface Place {
  /** Two capital letters (ISO 3166-1 alpha-2), or `null` when it is not known. */
  readonly country: string | null;
  readonly city: string | null;
}

export interface Geo {
  /**
   * Reads what the CDN in front has found out; asks no other service.
   *
   * @param address network address of the reader; addresses of private networks have no place
   * @param headers of the request
   */
  locate(address: string, headers: Headers): Place;
}

/** What CDNs write for readers whose country they do not know, and for Tor. */
const noCountry = new Set(['XX', 'ZZ', 'T1', 'A1', 'A2', 'AP', 'EU']);

/** Two letters, or nothing. */
export function countryOf(value: string | null): string | null {
  const code = value?.trim().toUpperCase() ?? '';
  return /^[A-Z]{2}$/u.test(code) && !noCountry.has(code) ? code : null;
}

/** A name of reasonable length; some CDNs write it percent-encoded, some as bytes of UTF-8. */
export function cityOf(value: string | null): string | null {
  const name = readable(value?.trim() ?? '');
  const fits = name.length <= 100 && /\p{L}/u.test(name) && !/[\p{C}<>]/u.test(name);
  return fits ? name : null;
}

function readable(text: string): string {
  try {
    if (/%[0-9a-f]{2}/iu.test(text)) return decodeURIComponent(text);
    // Header values arrive one byte a letter.
    if (/[\u0080-\u00ff]/u.test(text) && !/[\u0100-\u{10ffff}]/u.test(text)) {
      return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    }
  } catch {
    // Not encoded after all.
  }
  return text;
}
