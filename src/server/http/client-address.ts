/**
 * The client's network address. Behind a proxy the connection is the proxy's, and the reader's address is in
 * `X-Forwarded-For`. Clients can send that header, too, so that only the entries of trusted proxies count.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Which proxies are in front: a number of them, or their addresses and networks (`10.0.0.0/8`). */
export type TrustedProxies = number | readonly string[];

/** Creates the function that reads addresses. */
export function clientAddressOf(trusted: TrustedProxies): (incoming: IncomingMessage) => string {
  const isProxy = typeof trusted === 'number' ? null : listed(trusted);
  return (incoming) => {
    const remote = plainAddress(incoming.socket.remoteAddress ?? '') ?? 'unknown';
    if (trusted === 0 || isProxy?.(remote) === false) return remote;
    const forwarded = String(incoming.headers['x-forwarded-for'] ?? '').split(',');
    let address = remote;
    // The chain is read from the nearest proxy outwards and ends at the first invalid entry.
    for (let hop = 1; hop <= forwarded.length; hop++) {
      if (isProxy ? !isProxy(address) : hop > (trusted as number)) break;
      const next = plainAddress(forwarded[forwarded.length - hop] ?? '');
      if (next === null) break;
      address = next;
    }
    return address;
  };
}

/** Creates the function that says whether a request comes from a trusted proxy. */
export function isFromProxy(trusted: TrustedProxies): (incoming: IncomingMessage) => boolean {
  if (typeof trusted === 'number') return () => trusted > 0;
  const isProxy = listed(trusted);
  return ({ socket }) => isProxy(plainAddress(socket.remoteAddress ?? '') ?? '');
}

/** An address without brackets, port and the prefix of IPv4-mapped IPv6; `null` if it is invalid. */
function plainAddress(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  return isIP(bare) ? bare : null;
}

function listed(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
