/** The part of a network address that counts as one caller. */
import { isIPv4, isIPv6 } from 'node:net';

/** The part of an address that belongs to one household: an IPv6 customer has a whole /64. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return 'unknown';
  // The URL parser normalizes IPv6, with a hexadecimal end.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  const whole = [...groups, ...after];
  // IPv4 in IPv6 (RFC 4291, section 2.5.5.2): one /64 contains all of them.
  if (whole.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const bytes = whole
      .slice(6)
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
    return bytes.join('.');
  }
  return `${whole.slice(0, 4).join(':')}::/64`;
}

/** The largest network of one connection: an IPv6 /48, which is 65,536 networks. `null` for anything but an IPv6 address. */
export function blockOf(address: string): string | null {
  const network = networkOf(address);
  return network.endsWith('::/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : null;
}

/** Whether a host name, in the form of `URL.hostname`, is localhost. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(hostname);
