/** A reader's place from headers of the CDN. They are believed because a setting names them, and for no other reason. */
import { BlockList, isIP } from 'node:net';
import type { Geo } from './model.ts';
import { cityOf, countryOf } from './model.ts';

export interface GeoSettings {
  /** Names of headers, in lower case; `null`: that part is not known. */
  readonly countryHeader: string | null;
  readonly cityHeader: string | null;
}

/** Networks that are nowhere: this machine, private ones, those of one link. */
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
