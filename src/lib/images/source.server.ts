/**
 * Fetches the original of a picture: only from hosts that the operator allowed, with every redirect checked, never from a private
 * address behind a public name, with limits on time and size.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { createBoundedMap } from '../bounded-map.ts';
import type { Logger } from '../logging.ts';
import { fileAddress } from './picture-files.server.ts';

/** Why a picture was refused, for the log. Only the message of a 400, which is about the parameters, is shown to the caller. */
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

// Separate lists for IPv4 and IPv6: in one list, the rule for IPv4-mapped IPv6 addresses would match every IPv4 address.
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
   * Hosts (`name` or `name:port`) whose pictures may be asked for; their addresses must be public. If the trusted host is among
   * them, its pictures may be at any path and not only among the uploads.
   */
  readonly allowedHosts: readonly string[];
  /** The operator's own WordPress, `host` or `host:port`: its uploads are allowed at any address, even on this machine. */
  readonly trustedHost?: string;
  /** Largest original in bytes. */
  readonly maxSourceBytes: number;
  /** Milliseconds for the whole of one fetch, redirects included. */
  readonly timeoutMs: number;
  /** Name resolution; tests replace it. */
  readonly resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

/** Who needs the original. */
export type Caller = 'readers' | 'ingest';

export interface ImageSource {
  /**
   * Checks an address without fetching it, and removes the parts that do not distinguish pictures.
   * @throws ImageError 400 for text that isn't a web address, 403 for a host that is not allowed
   */
  check(url: string): URL;
  /**
   * The bytes of an original. Ingest has its own connections, so that readers' requests don't delay a publish.
   * @throws ImageError 403, 404, 413, 415, 502 or 504, each with its reason
   */
  fetch(url: string, caller: Caller): Promise<Buffer>;
  /** When an original was changed, epoch milliseconds, 0 where its host doesn't say; `null` when the host doesn't answer. */
  changedAt(url: URL): Promise<number | 'gone' | null>;
  close(): Promise<void>;
}

const maxRedirects = 3;
/** A path that names a picture; WordPress's answer then does not depend on the query. */
const imageFile = /\.(?:jpe?g|png|webp|avif|gif|tiff?)$/i;
/** Where WordPress keeps uploads: `wp-content/uploads`, another folder of that name, or the `files` of an old network of sites. */
const uploads = /\/(?:uploads|files)\//;
/** Percent-encoded characters that a server may read as separators of another path. */
const hiddenSeparator = /%(?:2f|5c|00|25)/i;
/**
 * Most simultaneous connections to WordPress, for each caller: requests for many missing pictures must not slow WordPress down
 * for editors.
 */
export const trustedConnections = 4;
const imageTypes = /^image\/(jpeg|jpg|pjpeg|png|webp|avif|gif|tiff)\s*(;|$)/i;

interface SourceState {
  readonly options: SourceOptions;
  /** Hosts in lower case. */
  readonly allowed: ReadonlySet<string>;
  readonly publicOnly: Readonly<Record<Caller, Dispatcher>>;
  readonly trusted: Readonly<Record<Caller, Dispatcher>>;
}

/** Opens a fetcher of originals with its own connections. */
export function openImageSource(options: SourceOptions): ImageSource {
  const publicAgent = (): Dispatcher =>
    new Agent({ connect: { timeout: 5000, lookup: publicLookup(options.resolve) } });
  const trustedAgent = (): Dispatcher => new Agent({ connections: trustedConnections, connect: { timeout: 5000 } });
  const state: SourceState = {
    options,
    allowed: new Set(options.allowedHosts.map((host) => host.toLowerCase())),
    publicOnly: { readers: publicAgent(), ingest: publicAgent() },
    trusted: { readers: trustedAgent(), ingest: trustedAgent() },
  };
  const agents = [...Object.values(state.publicOnly), ...Object.values(state.trusted)];
  return {
    check: (url) => check(state, url),
    fetch: (url, caller) => fetchBytes(state, url, caller),
    changedAt: (url) => changedAt(state, url),
    close: async () => {
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

/** Resolves only public addresses. The connection uses the address that was checked: a second look-up could return another. */
function publicLookup(
  resolve: NonNullable<SourceOptions['resolve']> = (hostname) => lookup(hostname, { all: true }),
): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname).then(
      (found) => {
        const bad = found.find((entry) => isPrivateAddress(entry.address));
        if (found.length === 0 || bad) {
          callback(new ImageError(403, `The address of ${hostname} is not public.`) as NodeJS.ErrnoException, []);
        } else callback(null, found);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function check({ options: { trustedHost }, allowed }: SourceState, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new ImageError(400, 'The parameter "url" must be an absolute http or https address.');
  }
  if (url.username || url.password)
    throw new ImageError(400, 'The address must not contain a user name or a password.');
  // Different addresses of the same picture must become equal; otherwise each would be fetched, resized and stored again.
  fileAddress(url, trustedHost);
  if (url.host === trustedHost) {
    const isUpload = allowed.has(url.host) || uploads.test(url.pathname);
    if (!imageFile.test(url.pathname) || hiddenSeparator.test(url.pathname) || !isUpload)
      throw new ImageError(403, "The address isn't an upload of WordPress.");
    return url;
  }
  if (!allowed.has(url.host)) throw new ImageError(403, `Pictures from ${url.host} are not served here.`);
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) && isPrivateAddress(bare)) throw new ImageError(403, `The address ${bare} is not public.`);
  return url;
}

/** WordPress may redirect within its host; no redirect may lead into a private network. */
function checkRedirect(state: SourceState, location: string, from: URL): URL {
  try {
    return check(state, new URL(location, from).href);
  } catch (error) {
    throw new ImageError(403, 'The original redirects to an address that is not served here.', { cause: error });
  }
}

async function fetchBytes(state: SourceState, text: string, caller: Caller): Promise<Buffer> {
  const { options } = state;
  const signal = AbortSignal.timeout(options.timeoutMs);
  let url = check(state, text);
  try {
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const answer = await request(url, {
        dispatcher: dispatcherFor(state, url, caller),
        headers: { accept: 'image/avif,image/webp,image/*;q=0.8' },
        signal,
      });
      if (answer.statusCode === 200) return await readBounded(answer, options.maxSourceBytes);
      answer.body.on('error', () => {}).destroy();
      const { location } = answer.headers;
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') {
        throw isMissing(answer.statusCode)
          ? new ImageError(404, "The original of this picture doesn't exist.")
          : new ImageError(502, `The host of the original responded with ${answer.statusCode}.`);
      }
      url = checkRedirect(state, location, url);
    }
    throw new ImageError(502, `The original redirects more than ${maxRedirects} times.`);
  } catch (error) {
    if (error instanceof ImageError) throw error;
    if (signal.aborted) throw new ImageError(504, "The host of the original didn't respond in time.", { cause: error });
    throw new ImageError(502, "The original couldn't be fetched.", { cause: error });
  }
}

/** Timeout in milliseconds for the question whether an original has changed: a reader is waiting. */
const questionMs = 2000;

async function changedAt(state: SourceState, url: URL): Promise<number | 'gone' | null> {
  try {
    const answer = await request(url, {
      method: 'HEAD',
      dispatcher: dispatcherFor(state, url, 'readers'),
      signal: AbortSignal.timeout(Math.min(questionMs, state.options.timeoutMs)),
    });
    answer.body.on('error', () => {}).destroy();
    if (isMissing(answer.statusCode)) return 'gone';
    // If a host refuses the request, perhaps because of its method, that doesn't mean that the picture is gone.
    return answer.statusCode < 500 ? Date.parse(String(answer.headers['last-modified'])) || 0 : null;
  } catch {
    return null;
  }
}

const isMissing = (status: number): boolean => status === 404 || status === 410;

const dispatcherFor = ({ options, trusted, publicOnly }: SourceState, url: URL, caller: Caller): Dispatcher =>
  url.host === options.trustedHost ? trusted[caller] : publicOnly[caller];

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

// Refused pictures: cached for a while and counted per client; and the response to them.

export interface Refusals {
  /**
   * Why a picture, or this size of it, was refused recently; `null`: it may be tried.
   * @param file digest of the original's address
   * @param size name of the size's file
   */
  known(file: string, size?: string): ImageError | null;
  /** Remembers why a picture was refused, or only a size of it. */
  note(file: string, error: ImageError, size?: string): void;
  /** Forgets the refusals of pictures in every size. @param all whether of every picture */
  forget(files: readonly string[], all?: boolean): void;
  /** Counts a missing picture against the client that requested it. */
  count(client: string): void;
  /** Seconds for which a client has to wait because too many of its pictures were missing; 0: none. */
  waitOf(client: string): number;
}

/** Milliseconds for which a refusal is remembered: a missing file may be uploaded soon, a file that isn't a picture rarely becomes one. */
const missingMs = 60_000;
const unfitMs = 300_000;
const failedMs = 5000;
const mostRemembered = 10_000;
/** Most missing pictures that one client may request in a minute. Each costs WordPress a page. */
const mostMissing = 60;
const minuteMs = 60_000;

/** @param now milliseconds since any time */
export function createRefusals(now: () => number): Refusals {
  /** By file, and by size: the original has the size ''. */
  const remembered =
    createBoundedMap<Map<string, { readonly error: ImageError; readonly until: number }>>(mostRemembered);
  let counts = new Map<string, number>();
  let minute = 0;

  const counted = (): Map<string, number> => {
    const current = Math.floor(now() / minuteMs);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    return counts;
  };

  return {
    known(file, size = '') {
      const refused = remembered.get(file);
      const entry = ['', size].map((each) => refused?.get(each)).find((each) => each && each.until > now());
      return entry?.error ?? null;
    },
    note(file, error, size = '') {
      const ms = error.status >= 500 ? failedMs : error.status === 404 ? missingMs : unfitMs;
      const refused = remembered.get(file) ?? new Map();
      remembered.set(file, refused.set(size, { error, until: now() + ms }));
    },
    forget(files, all = false) {
      for (const each of files) remembered.delete(each);
      if (all) remembered.clear();
    },
    count(client) {
      const all = counted();
      all.set(client, (all.get(client) ?? 0) + 1);
    },
    waitOf(client) {
      if ((counted().get(client) ?? 0) < mostMissing) return 0;
      return Math.ceil((minuteMs - (now() % minuteMs)) / 1000);
    },
  };
}

/** Seconds until a retry, if the error doesn't state them. */
const retryAfter = 10;

/**
 * The response to a refused request, which says only whether to try again. The reason is logged; for a 404, which anyone can cause, at the
 * level `debug`.
 */
export function refusalAnswer(error: unknown, log: Logger) {
  const known = error instanceof ImageError ? error : null;
  if (!known) log.error({ err: error }, 'A picture request failed');
  else {
    const details = { status: known.status, reason: known.message, cause: String(known.cause ?? '') };
    if (known.status >= 500) log.warn(details, 'No picture');
    else log.debug(details, 'No picture');
  }
  const status = known === null ? 500 : known.status >= 500 ? 503 : known.status === 400 ? 400 : 404;
  const sentences: Record<number, string> = {
    400: known?.message ?? '',
    404: 'This picture isn’t available.',
    500: 'This picture couldn’t be made.',
    503: 'This picture isn’t available right now. Try again in a moment.',
  };
  const headers: Record<string, string> = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': status === 404 ? 'public, max-age=60' : 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (status === 503) headers['retry-after'] = String(known?.retryAfter ?? retryAfter);
  return { status, headers, body: `${sentences[status]}\n` };
}
