/**
 * The picture service behind `/image` (spec section 7): resizes pictures of allowed hosts to listed widths, as AVIF or
 * WebP where the browser takes it, and keeps the results on disk within a bound. One picture is made once, however many
 * ask for it at the same time.
 */
import { createHash } from 'node:crypto';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { publication } from '../../publication.ts';
import type { Logger } from '../logging.ts';
import { type DiskCache, openDiskCache } from './disk-cache.server.ts';
import { ImageError, type ImageSource, openImageSource, type SourceOptions } from './source.server.ts';
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
   * @param params `url`, `width` (one of the listed), `quality` (default 75, a multiple of 5 from 30 to 95); or `url` and
   *   `crop=social` for 1280×720 as JPEG
   * @param accept the request's `Accept`
   * @param ifNoneMatch the request's `If-None-Match`
   */
  handle(params: URLSearchParams, accept: string | null, ifNoneMatch?: string | null): Promise<ImageAnswer>;
  /** Size in pixels of an original as it is shown (EXIF orientation applied), or `null` with the reason logged. */
  measure(url: string): Promise<{ width: number; height: number } | null>;
  /** Pictures resized since the start. */
  made(): number;
  close(): Promise<void>;
}

type Format = 'avif' | 'webp' | 'jpeg' | 'png';
const originalsMaxAge = 7 * 86_400_000;
const maxWaiting = 256;
const readable = new Set(['jpeg', 'png', 'webp', 'heif', 'gif', 'tiff']);
const isAvif = (meta: Metadata): boolean => meta.format !== 'heif' || meta.compression === 'av1';

/** Opens the service. Nothing is fetched until somebody asks. */
export async function createImages(options: ImagesOptions): Promise<Images> {
  const { log } = options;
  const maxPixels = options.maxPixels ?? 64_000_000;
  const source: ImageSource = openImageSource({
    allowedHosts: options.allowedHosts,
    ...(options.trustedHost && { trustedHost: options.trustedHost }),
    ...(options.resolve && { resolve: options.resolve }),
    maxSourceBytes: options.maxSourceBytes ?? 32 * 1048576,
    timeoutMs: options.timeoutMs ?? 10_000,
  });
  const cache: DiskCache = await openDiskCache(options.dir, options.maxBytes, options.now);
  const limit = limiter(options.concurrency ?? 2);
  const flights = new Map<string, Promise<Buffer>>();
  let made = 0;

  /** Runs `make` once per name at a time; everybody who asks meanwhile gets the same bytes. */
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

  const original = (url: URL): Promise<Buffer> => {
    const name = `${digest(url.href)}.src`;
    return once(name, originalsMaxAge, async () => {
      try {
        return await source.fetch(url.href);
      } catch (error) {
        // An old original is better than none while its host is down.
        const kept = error instanceof ImageError && error.status >= 500 ? await cache.get(name) : null;
        if (kept) return kept;
        throw error;
      }
    });
  };

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

  async function resize({ url, width, height, quality }: Wish, wanted: Format | 'original'): Promise<Buffer> {
    const bytes = await original(url);
    return limit(async () => {
      const { picture, meta } = await open(bytes);
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
    });
  }

  return {
    async handle(params, accept, ifNoneMatch = null) {
      try {
        const wish = readParams(params, source);
        // Crawlers of social networks take JPEG, whatever they say that they accept.
        const wanted = wish.height ? 'jpeg' : negotiate(accept);
        const name = `${digest(`${wish.url.href} ${wish.width} ${wish.height} ${wish.quality}`)}.${wanted}`;
        const body = await once(name, undefined, () => resize(wish, wanted));
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
        return refusal(error, log);
      }
    },
    async measure(url) {
      try {
        const { meta } = await open(await original(source.check(url)));
        const turned = (meta.orientation ?? 1) >= 5;
        if (!meta.width || !meta.height) return null;
        return turned ? { width: meta.height, height: meta.width } : { width: meta.width, height: meta.height };
      } catch (error) {
        log.warn({ host: hostOf(url), reason: (error as Error).message }, 'A picture could not be measured');
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
  const quality = params.has('quality') ? whole(params.get('quality')) : publication.images.quality;
  if (!Number.isInteger(quality) || quality < 30 || quality > 95 || quality % 5 !== 0) {
    throw new ImageError(400, 'The parameter "quality" must be a multiple of 5 from 30 to 95.');
  }
  return { url: source.check(address), width, quality };
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

function refusal(error: unknown, log: Logger): ImageAnswer {
  const known = error instanceof ImageError;
  const status = known ? error.status : 500;
  if (!known) log.error({ err: error }, 'A picture request failed');
  else if (status >= 500) log.warn({ status, reason: error.message, cause: String(error.cause ?? '') }, 'No picture');
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': status === 404 ? 'public, max-age=60' : 'no-store',
      'x-content-type-options': 'nosniff',
      ...((status === 503 || status === 502 || status === 504) && { 'retry-after': '10' }),
    },
    body: `${known ? error.message : 'The picture could not be made.'}\n`,
  };
}

/** At most `count` tasks at work; a bounded number waits, the rest is turned away with 503. */
function limiter(count: number): <T>(task: () => Promise<T>) => Promise<T> {
  let working = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (working < count) working += 1;
    else {
      if (waiting.length >= maxWaiting) throw new ImageError(503, 'Too many pictures are being made; try again.');
      await new Promise<void>((go) => waiting.push(go));
    }
    try {
      return await task();
    } finally {
      // The place is handed to the next in line; only without one does it become free.
      const next = waiting.shift();
      if (next) next();
      else working -= 1;
    }
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'no address';
  }
}
