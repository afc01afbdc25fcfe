/**
 * Fetches the original of a picture, trusting nobody: only hosts that the operator allowed, every redirect checked
 * again, no private address behind a public name, bounded in time and bytes.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';

/**
 * Why a picture was refused, for the log. Only the sentence of a 400, which is about the parameters, is shown to the caller
 * (refusals.server.ts).
 */
export class ImageError extends Error {
  readonly status: number;
  /** Seconds after which to try again, where that is known. */
  readonly retryAfter: number | undefined;
  constructor(status: number, message: string, options?: ErrorOptions & { readonly retryAfter?: number }) {
    super(message, options);
    this.name = 'ImageError';
    this.status = status;
    this.retryAfter = options?.retryAfter;
  }
}

// Two lists: in one, the rule for IPv4-mapped IPv6 addresses would match every IPv4 address.
const notPublic4 = new BlockList();
const notPublic6 = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublic4.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  notPublic6.addSubnet(net, prefix, 'ipv6');
}

/** True for loopback, private, link-local, documentation, multicast and transition addresses, and for non-addresses. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return notPublic4.check(address, 'ipv4');
  if (family === 6) return notPublic6.check(address, 'ipv6');
  return true;
}

export interface SourceOptions {
  /**
   * Hosts (`name` or `name:port`) whose pictures may be asked for; their addresses must be public. Where the trusted host is among
   * them, its pictures may lie anywhere and not only among the uploads.
   */
  readonly allowedHosts: readonly string[];
  /** The operator's own WordPress, `host` or `host:port`: its uploads are allowed wherever it lives, on this machine too. */
  readonly trustedHost?: string;
  /** Largest original in bytes. */
  readonly maxSourceBytes: number;
  /** Milliseconds for the whole of one fetch, redirects included. */
  readonly timeoutMs: number;
  /** Name resolution; tests replace it. */
  readonly resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

/** Who has an original fetched. */
export type Caller = 'readers' | 'ingest';

export interface ImageSource {
  /**
   * Checks an address without fetching it, and takes from it what does not tell one picture from another.
   * @throws ImageError 400 for what is no web address, 403 for a host that is not allowed
   */
  check(url: string): URL;
  /**
   * The bytes of an original. Ingest has connections of its own, so that readers' requests don't hold up a publish.
   * @throws ImageError 403, 404, 413, 415, 502 or 504, each with its reason
   */
  fetch(url: string, caller: Caller): Promise<Buffer>;
  close(): Promise<void>;
}

const maxRedirects = 3;
/** A path that names a picture; WordPress's answer then does not depend on the query. */
const imageFile = /\.(?:jpe?g|png|webp|avif|gif|tiff?)$/i;
/** Where WordPress keeps uploads: `wp-content/uploads`, another folder of that name, or the `files` of an old network of sites. */
const uploads = /\/(?:uploads|files)\//;
/** Escapes that a server may read as the parts of another path. */
const hiddenSeparator = /%(?:2f|5c|00|25)/i;
/** Connections to WordPress at once, for each caller: many pictures that do not exist must not keep it from editors. */
export const trustedConnections = 4;
const imageTypes = /^image\/(jpeg|jpg|pjpeg|png|webp|avif|gif|tiff)\s*(;|$)/i;

/** Opens a fetcher of originals with its own connections. */
export function openImageSource(options: SourceOptions): ImageSource {
  const resolve = options.resolve ?? ((hostname: string) => lookup(hostname, { all: true }));
  const allowed = new Set(options.allowedHosts.map((host) => host.toLowerCase()));

  // The address that was checked is the address that is connected to: a second look-up could answer otherwise.
  const publicAgent = (): Dispatcher =>
    new Agent({
      connect: {
        timeout: 5000,
        lookup: (hostname, _options, callback) => {
          resolve(hostname).then(
            (found) => {
              const bad = found.find((entry) => isPrivateAddress(entry.address));
              if (found.length === 0 || bad) {
                callback(new ImageError(403, `The address of ${hostname} is not public.`) as NodeJS.ErrnoException, []);
              } else callback(null, found);
            },
            (error: NodeJS.ErrnoException) => callback(error, []),
          );
        },
      },
    });
  const publicOnly: Readonly<Record<Caller, Dispatcher>> = { readers: publicAgent(), ingest: publicAgent() };
  const trustedAgent = (): Dispatcher => new Agent({ connections: trustedConnections, connect: { timeout: 5000 } });
  const trusted: Readonly<Record<Caller, Dispatcher>> = { readers: trustedAgent(), ingest: trustedAgent() };

  function check(text: string): URL {
    let url: URL;
    try {
      url = new URL(text);
    } catch {
      throw new ImageError(400, 'The parameter "url" must be an absolute http or https address.');
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new ImageError(400, 'The parameter "url" must be an absolute http or https address.');
    }
    if (url.username || url.password)
      throw new ImageError(400, 'The address must not carry a user name or a password.');
    // Neither part tells one picture from another; each new one would be fetched, made and kept again.
    url.hash = '';
    if (url.host === options.trustedHost) {
      const anywhere = allowed.has(url.host);
      if (
        !imageFile.test(url.pathname) ||
        hiddenSeparator.test(url.pathname) ||
        !(anywhere || uploads.test(url.pathname))
      )
        throw new ImageError(403, 'The address is no upload of WordPress.');
      url.search = '';
      return url;
    }
    if (!allowed.has(url.host)) throw new ImageError(403, `Pictures from ${url.host} are not served here.`);
    const bare = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(bare) && isPrivateAddress(bare)) throw new ImageError(403, `The address ${bare} is not public.`);
    return url;
  }

  function checkRedirect(location: string, from: URL): URL {
    try {
      return check(new URL(location, from).href);
    } catch (error) {
      throw new ImageError(403, 'The original redirects to an address that is not served here.', { cause: error });
    }
  }

  async function fetchBytes(text: string, caller: Caller): Promise<Buffer> {
    const signal = AbortSignal.timeout(options.timeoutMs);
    let url = check(text);
    try {
      for (let hop = 0; hop <= maxRedirects; hop += 1) {
        const answer = await request(url, {
          dispatcher: url.host === options.trustedHost ? trusted[caller] : publicOnly[caller],
          headers: { accept: 'image/avif,image/webp,image/*;q=0.8' },
          signal,
        });
        const location = answer.headers.location;
        if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
          answer.body.on('error', () => {}).destroy();
          // WordPress itself may redirect within its host; nobody may redirect us into a private network.
          url = checkRedirect(location, url);
          continue;
        }
        if (answer.statusCode !== 200) {
          answer.body.on('error', () => {}).destroy();
          throw answer.statusCode === 404 || answer.statusCode === 410
            ? new ImageError(404, 'The original of this picture does not exist.')
            : new ImageError(502, `The host of the original answered ${answer.statusCode}.`);
        }
        return await readBounded(answer, options.maxSourceBytes);
      }
      throw new ImageError(502, `The original redirects more than ${maxRedirects} times.`);
    } catch (error) {
      if (error instanceof ImageError) throw error;
      if (signal.aborted)
        throw new ImageError(504, 'The host of the original did not answer in time.', { cause: error });
      throw new ImageError(502, 'The original could not be fetched.', { cause: error });
    }
  }

  return {
    check,
    fetch: fetchBytes,
    close: async () => {
      await Promise.all([...Object.values(publicOnly), ...Object.values(trusted)].map((agent) => agent.destroy()));
    },
  };
}

async function readBounded(answer: Dispatcher.ResponseData, limit: number): Promise<Buffer> {
  const type = String(answer.headers['content-type'] ?? '');
  const tooLarge = () => new ImageError(413, `The original is larger than ${Math.round(limit / 1048576)} MB.`);
  try {
    if (!imageTypes.test(type)) throw new ImageError(415, `The original is ${type || 'of no type'}, not a picture.`);
    if (Number(answer.headers['content-length'] ?? 0) > limit) throw tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    answer.body.on('error', () => {}).destroy();
  }
}
