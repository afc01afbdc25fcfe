/**
 * The picture service behind `/image` (spec section 7): resizes pictures of allowed hosts to listed widths, as AVIF or
 * WebP where the browser takes it, and keeps the results on disk within a bound. One picture is made once, however many
 * ask for it at the same time.
 */
import { createHash } from 'node:crypto';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { publication } from '../../publication.ts';
import { networkOf } from '../http/network.ts';
import { type Logger, warnOncePerHost } from '../logging.ts';
import { createFairQueue, type FairQueue, QueueFull } from '../workers/fair-queue.ts';
import { type DiskCache, openDiskCache } from './disk-cache.server.ts';
import { createRefusals, refusalAnswer } from './refusals.server.ts';
import {
  type Caller,
  ImageError,
  type ImageSource,
  openImageSource,
  type SourceOptions,
  trustedConnections,
} from './source.server.ts';
import { imageWidths } from './url.ts';

export interface ImagesOptions extends Pick<SourceOptions, 'allowedHosts' | 'trustedHost' | 'resolve'> {
  /** Folder of the cache; made if missing. */
  readonly dir: string;
  /** Bound of the cache on disk, bytes; originals and results together. */
  readonly maxBytes: number;
  readonly log: Logger;
  /** Largest original, bytes. */
  readonly maxSourceBytes?: number;
  /** Largest original, pixels; what is larger is taken for a bomb. */
  readonly maxPixels?: number;
  /** Milliseconds for fetching an original. */
  readonly timeoutMs?: number;
  /** Resizes at work at once. */
  readonly concurrency?: number;
  readonly now?: () => number;
}

export interface ImageAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | string;
}

export interface Images {
  /**
   * Answers a request for `/image`. Never throws: what is refused comes back as a status and a sentence.
   *
   * @param params `url`, `width` (one of the listed), `quality` (from 1 to 100; the site has one, which every other becomes); or
   *   `url` and `crop=social` for 1280×720 as JPEG
   * @param accept the request's `Accept`
   * @param ifNoneMatch the request's `If-None-Match`
   * @param client network address of the caller: what is not in the cache is made in turns
   */
  handle(
    params: URLSearchParams,
    accept: string | null,
    ifNoneMatch?: string | null,
    client?: string,
  ): Promise<ImageAnswer>;
  /** Size in pixels of an original as it is shown (EXIF orientation applied), or `null` with the reason logged. */
  measure(url: string): Promise<{ width: number; height: number } | null>;
  /** Pictures resized since the start. */
  made(): number;
  close(): Promise<void>;
}

type Format = 'avif' | 'webp' | 'jpeg' | 'png';
const originalsMaxAge = 7 * 86_400_000;
/** Pictures that wait: a page has a few dozen, and several readers may share an address. */
const waitingPictures = { waitingPerClient: 128, waiting: 1024 };
const readable = new Set(['jpeg', 'png', 'webp', 'heif', 'gif', 'tiff']);
const isAvif = (meta: Metadata): boolean => meta.format !== 'heif' || meta.compression === 'av1';

/** Opens the service. Nothing is fetched until somebody asks. */
export async function createImages(options: ImagesOptions): Promise<Images> {
  const { log } = options;
  const warn = warnOncePerHost(log);
  const maxPixels = options.maxPixels ?? 64_000_000;
  const source: ImageSource = openImageSource({
    allowedHosts: options.allowedHosts,
    ...(options.trustedHost && { trustedHost: options.trustedHost }),
    ...(options.resolve && { resolve: options.resolve }),
    maxSourceBytes: options.maxSourceBytes ?? 32 * 1048576,
    timeoutMs: options.timeoutMs ?? 10_000,
  });
  const cache: DiskCache = await openDiskCache(options.dir, options.maxBytes, options.now);
  const resizesAtOnce = options.concurrency ?? 3;
  const fetching = createFairQueue({ atOnce: trustedConnections, perClient: 2, ...waitingPictures });
  const resizing = createFairQueue({
    atOnce: resizesAtOnce,
    perClient: Math.max(1, resizesAtOnce - 1),
    ...waitingPictures,
  });
  const refusals = createRefusals(options.now ?? Date.now);
  /** Files that are being made or fetched. */
  const flights = new Map<string, Promise<Buffer>>();
  /** Files that wait for a client's turn, by both. */
  const turns = new Map<string, Promise<Buffer>>();
  let made = 0;

  /** Makes a file once at a time; everybody who asks meanwhile gets the same bytes. */
  function once(name: string, maxAgeMs: number | undefined, make: () => Promise<Buffer>): Promise<Buffer> {
    const flying = flights.get(name);
    if (flying) return flying;
    const flight = (async () => {
      const kept = await cache.get(name, maxAgeMs);
      if (kept) return kept;
      const bytes = await make();
      await cache.put(name, bytes).catch((error) => log.error({ err: error }, 'A picture could not be kept on disk'));
      return bytes;
    })().finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  }

  /** A file from the cache, from a flight that has begun, or made in the client's turn. */
  function inTurn(
    queue: FairQueue,
    client: string,
    { name, maxAgeMs }: { readonly name: string; readonly maxAgeMs?: number },
    make: () => Promise<Buffer>,
  ): Promise<Buffer> {
    const key = `${name} ${client}`;
    const known = flights.get(name) ?? turns.get(key);
    if (known) return known;
    const turn = (async () => {
      const kept = await cache.get(name, maxAgeMs);
      return kept ?? (await queue.run(client, () => once(name, maxAgeMs, make)));
    })()
      .catch((error: unknown) => {
        throw error instanceof QueueFull ? new ImageError(503, 'Too many pictures wait to be made.') : error;
      })
      .finally(() => turns.delete(key));
    turns.set(key, turn);
    return turn;
  }

  async function fetchOriginal(url: URL, name: string, caller: Caller): Promise<Buffer> {
    try {
      return await source.fetch(url.href, caller);
    } catch (error) {
      // An old original is better than none while its host is down.
      const kept = error instanceof ImageError && error.status >= 500 ? await cache.get(name) : null;
      if (kept) return kept;
      throw error;
    }
  }

  const originalName = (url: URL): string => `${digest(url.href)}.src`;

  /** The original for readers: in the client's turn, and not again and again where there is none. */
  function original(url: URL, client: string): Promise<Buffer> {
    const name = originalName(url);
    return inTurn(fetching, client, { name, maxAgeMs: originalsMaxAge }, async () => {
      // Meanwhile another client may have learned that there is none.
      const refused = refusals.known(url.href);
      if (refused) throw refused;
      const wait = refusals.waitOf(client);
      if (wait > 0) throw new ImageError(503, 'Too many pictures that do not exist.', { retryAfter: wait });
      try {
        return await fetchOriginal(url, name, 'readers');
      } catch (error) {
        if (error instanceof ImageError) {
          refusals.note(url.href, error);
          refusals.count(client);
        }
        throw error;
      }
    });
  }

  /** The original for ingest: beside the readers' queue and connections, whatever was refused to them. */
  async function originalForIngest(url: URL): Promise<Buffer> {
    const name = originalName(url);
    const bytes = await once(name, originalsMaxAge, () => fetchOriginal(url, name, 'ingest'));
    refusals.forget(url.href);
    return bytes;
  }

  /** Opens bytes as a picture of a kind that we serve. SVG never gets here as a picture: it is a program. */
  async function open(bytes: Buffer): Promise<{ picture: Sharp; meta: Metadata }> {
    const picture = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', animated: false });
    let meta: Metadata;
    try {
      meta = await picture.metadata();
    } catch (error) {
      if (/pixel limit/i.test(String(error))) throw new ImageError(413, 'The original has too many pixels.');
      throw new ImageError(415, 'The original is not a picture that can be read.', { cause: error });
    }
    if (!readable.has(meta.format ?? '') || !isAvif(meta)) {
      throw new ImageError(415, `The original is ${meta.format ?? 'unknown'}, which is not served here.`);
    }
    if ((meta.width ?? 0) * (meta.height ?? 0) > maxPixels) {
      throw new ImageError(413, 'The original has too many pixels.');
    }
    return { picture, meta };
  }

  async function resize({ url, width, height, quality }: Wish, wanted: Format | 'original', client: string) {
    const { picture, meta } = await open(await original(url, client));
    const format = wanted === 'original' ? (meta.hasAlpha ? 'png' : 'jpeg') : wanted;
    try {
      const turned = picture.rotate();
      const sized = height
        ? turned.resize({ width, height, fit: 'cover', position: 'attention' })
        : turned.resize({ width, withoutEnlargement: true });
      const bytes = await encode(sized, format, quality).timeout({ seconds: 20 }).toBuffer();
      made++;
      return bytes;
    } catch (error) {
      if (/pixel limit/i.test(String(error))) throw new ImageError(413, 'The original has too many pixels.');
      throw new ImageError(422, 'The original is damaged.', { cause: error });
    }
  }

  async function pictureFor(wish: Wish, wanted: Format | 'original', client: string): Promise<Buffer> {
    const name = `${digest(`${wish.url.href} ${wish.width} ${wish.height} ${wish.quality}`)}.${wanted}`;
    const kept = await cache.get(name);
    if (kept) return kept;
    const refused = refusals.known(wish.url.href);
    if (refused) throw refused;
    // On disk before a place among the resizes is taken: those must not wait for a slow host.
    await original(wish.url, client);
    try {
      return await inTurn(resizing, client, { name }, () => resize(wish, wanted, client));
    } catch (error) {
      if (error instanceof ImageError && error.status < 500) refusals.note(wish.url.href, error);
      throw error;
    }
  }

  return {
    async handle(params, accept, ifNoneMatch = null, client = '') {
      try {
        const wish = readParams(params, source);
        // Crawlers of social networks take JPEG, whatever they say that they accept.
        const wanted = wish.height ? 'jpeg' : negotiate(accept);
        const body = await pictureFor(wish, wanted, networkOf(client));
        const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
        const headers = {
          'content-type': contentType(wanted, body),
          'cache-control': 'public, max-age=2592000, stale-while-revalidate=86400',
          vary: 'Accept',
          etag,
          // A picture opened by itself can run nothing.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          'x-content-type-options': 'nosniff',
        };
        if (ifNoneMatch?.split(/\s*,\s*/).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)) {
          return { status: 304, headers, body: '' };
        }
        return { status: 200, headers: { ...headers, 'content-length': String(body.length) }, body };
      } catch (error) {
        return refusalAnswer(error, log);
      }
    },
    async measure(url) {
      try {
        const { meta } = await open(await originalForIngest(source.check(url)));
        const turned = (meta.orientation ?? 1) >= 5;
        if (!meta.width || !meta.height) return null;
        return turned ? { width: meta.height, height: meta.width } : { width: meta.width, height: meta.height };
      } catch (error) {
        warn('A picture could not be measured', url, { reason: (error as Error).message });
        return null;
      }
    },
    made: () => made,
    close: () => source.close(),
  };
}

/** What one request asks for. `height` is given only for a crop. */
interface Wish {
  readonly url: URL;
  readonly width: number;
  readonly height?: number;
  readonly quality: number;
}

function readParams(params: URLSearchParams, source: ImageSource): Wish {
  const address = params.get('url') ?? '';
  if (address.length > 2048) throw new ImageError(400, 'The parameter "url" is too long.');
  if (params.has('crop')) {
    if (params.get('crop') !== 'social') throw new ImageError(400, 'The parameter "crop" may only be "social".');
    return { url: source.check(address), ...publication.images.social, quality: publication.images.quality };
  }
  const width = whole(params.get('width'));
  if (!imageWidths.includes(width)) {
    throw new ImageError(400, `The parameter "width" must be one of ${imageWidths.join(', ')}.`);
  }
  const asked = params.has('quality') ? whole(params.get('quality')) : publication.images.quality;
  if (!Number.isInteger(asked) || asked < 1 || asked > 100) {
    throw new ImageError(400, 'The parameter "quality" must be a whole number from 1 to 100.');
  }
  // One quality for each picture: every other one would be fetched, made and kept as well.
  return { url: source.check(address), width, quality: publication.images.quality };
}

/** A number in plain digits; `0x280` and `6.4e2` would be further addresses of one picture. */
const whole = (text: string | null): number => (/^\d{1,4}$/.test(text ?? '') ? Number(text) : Number.NaN);

/** Best format that the browser names outright; `image/*` alone promises neither AVIF nor WebP. */
function negotiate(accept: string | null): 'avif' | 'webp' | 'original' {
  const offers = new Map(
    (accept ?? '').split(',').map((part) => {
      const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
      const q = parameters.find((piece) => piece.startsWith('q='));
      return [type, q ? Number(q.slice(2)) : 1] as const;
    }),
  );
  if ((offers.get('image/avif') ?? 0) > 0) return 'avif';
  if ((offers.get('image/webp') ?? 0) > 0) return 'webp';
  return 'original';
}

/**
 * AVIF needs a lower number for the same looks. At effort 0 it is quicker than WebP and still smaller, and readers wait for
 * a first resize.
 */
function encode(picture: Sharp, format: Format, quality: number): Sharp {
  if (format === 'avif') return picture.avif({ quality: Math.round(quality * 0.72), effort: 0 });
  if (format === 'webp') return picture.webp({ quality, effort: 3 });
  if (format === 'png') return picture.png({ palette: true, quality });
  return picture.flatten({ background: '#f9f9f5' }).jpeg({ quality, mozjpeg: true });
}

function contentType(wanted: Format | 'original', body: Uint8Array): string {
  if (wanted !== 'original') return `image/${wanted}`;
  return body[0] === 0x89 ? 'image/png' : 'image/jpeg';
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
