/** A reader's approximate place (spec section 7, `GET /api/geo`), from the CDN's headers. Only headers that a setting names are trusted. */
import { BlockList, isIP } from 'node:net';

export interface Place {
  /** Two capital letters (ISO 3166-1 alpha-2), or `null` when it is not known. */
  readonly country: string | null;
  readonly city: string | null;
}

export interface Geo {
  /**
   * Reads the location that the CDN has determined; calls no other service.
   *
   * @param address network address of the reader; addresses of private networks have no location
   * @param headers of the request
   */
  locate(address: string, headers: Headers): Place;
}

export interface GeoSettings {
  /** Names of headers, in lower case; `null`: that part is not known. */
  readonly countryHeader: string | null;
  readonly cityHeader: string | null;
}

/** Networks without a location: this machine, private networks, and link-local addresses. */
const nowhere = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  nowhere.addSubnet(network, bits, 'ipv4');
}
nowhere.addAddress('::1', 'ipv6');
nowhere.addSubnet('fc00::', 7, 'ipv6');
nowhere.addSubnet('fe80::', 10, 'ipv6');

export function createGeo({ countryHeader, cityHeader }: GeoSettings): Geo {
  return {
    locate(address, headers) {
      const version = isIP(address);
      if (version === 0 || nowhere.check(address, version === 4 ? 'ipv4' : 'ipv6'))
        return { country: null, city: null };
      return {
        country: countryHeader === null ? null : countryOf(headers.get(countryHeader)),
        city: cityHeader === null ? null : cityOf(headers.get(cityHeader)),
      };
    },
  };
}

/** What CDNs write for readers in an unknown country, and for Tor. */
const noCountry = new Set(['XX', 'ZZ', 'T1', 'A1', 'A2', 'AP', 'EU']);

/** Two letters, or nothing. */
export function countryOf(value: string | null): string | null {
  const code = value?.trim().toUpperCase() ?? '';
  return /^[A-Z]{2}$/u.test(code) && !noCountry.has(code) ? code : null;
}

/** A name of reasonable length; some CDNs percent-encode it, others send UTF-8 bytes. */
export function cityOf(value: string | null): string | null {
  const name = readable(value?.trim() ?? '');
  const fits = name.length <= 100 && /\p{L}/u.test(name) && !/[\p{C}<>]/u.test(name);
  return fits ? name : null;
}

function readable(text: string): string {
  try {
    if (/%[0-9a-f]{2}/iu.test(text)) return decodeURIComponent(text);
    // Header values arrive as one byte per character.
    if (/[\u0080-\u00ff]/u.test(text) && !/[\u0100-\u{10ffff}]/u.test(text)) {
      return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    }
  } catch {
    // It wasn't encoded after all.
  }
  return text;
}
