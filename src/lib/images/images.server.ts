/**
 * The picture service behind `/image` (spec section 7): resizes pictures of allowed hosts to listed widths, as AVIF or WebP if
 * the browser accepts it, and caches the results on disk with a size limit. Simultaneous requests for a picture create it only
 * once.
 */
import { publication } from '../../publication.ts';
import { tag } from '../content/tags.ts';
import { hashOf, matchesEtag, qualitiesOf } from '../http/negotiation.server.ts';
import { networkOf } from '../http/network.ts';
import { type Logger, warnOncePerHost } from '../logging.ts';
import { createFairQueue, type FairQueue, QueueFull } from '../workers/fair-queue.ts';
import { type DiskCache, openDiskCache } from './disk-cache.server.ts';
import { createOriginalChecks, type OriginalChecks } from './original-checks.ts';
import { type ChangedFiles, digest, fileTag } from './picture-files.server.ts';
import { contentType, type Format, resize, type Size, sizeOf } from './resize.server.ts';
import {
  type Caller,
  createRefusals,
  ImageError,
  type ImageSource,
  openImageSource,
  type Refusals,
  refusalAnswer,
  type SourceOptions,
  trustedConnections,
} from './source.server.ts';
import { imageWidths } from './url.ts';

export interface ImagesOptions extends Pick<SourceOptions, 'allowedHosts' | 'trustedHost' | 'resolve'> {
  /** Folder of the cache; made if missing. */
  readonly dir: string;
  /** Size limit of the cache on disk, bytes, for originals and results together. */
  readonly maxBytes: number;
  readonly log: Logger;
  /** Largest original, bytes. */
  readonly maxSourceBytes?: number;
  /** Milliseconds for fetching an original. */
  readonly timeoutMs?: number;
  readonly now?: () => number;
  /** Headers of a picture for a CDN, which can be purged by the tags when the file changes; none by default. */
  readonly cdnHeadersOf?: ((tags: readonly string[], varies: boolean) => Readonly<Record<string, string>>) | undefined;
}

export interface ImageAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | string;
}

export interface Images {
  /**
   * Answers a request for `/image`. Never throws: a refusal is returned as a status and a sentence.
   *
   * @param params `url`, `width` (one of the listed), `quality` (from 1 to 100, but the site's one quality is always used); or
   *   `url` and `crop=social` for 1280×720 as JPEG
   * @param accept the request's `Accept`
   * @param ifNoneMatch the request's `If-None-Match`
   * @param client network address of the caller: clients take turns for pictures that aren't cached
   */
  handle(
    params: URLSearchParams,
    accept: string | null,
    ifNoneMatch?: string | null,
    client?: string,
  ): Promise<ImageAnswer>;
  /** Size in pixels of an original as it is shown (EXIF orientation applied), or `null` with the reason logged. */
  measure(url: string): Promise<{ width: number; height: number } | null>;
  /**
   * Files may have been deleted or replaced at their host: the host is asked again before a reader gets pictures made from
   * them.
   */
  changed(files: ChangedFiles): Promise<void>;
  /** Pictures resized since the start. */
  made(): number;
  close(): Promise<void>;
}

const originalsMaxAge = 7 * 86_400_000;
/** Pictures that wait: a page has a few dozen, and several readers may share an address. */
const waitingPictures = { waitingPerClient: 128, waiting: 1024 };
/** Most attempts to make a picture whose original is replaced during the work. */
const mostTries = 3;

interface ImagesState {
  readonly log: Logger;
  readonly cdnHeadersOf: NonNullable<ImagesOptions['cdnHeadersOf']>;
  readonly source: ImageSource;
  readonly cache: DiskCache;
  readonly refusals: Refusals;
  readonly originals: OriginalChecks;
  readonly fetching: FairQueue;
  readonly resizing: FairQueue;
  /** Files that are being created or fetched, by name. */
  readonly inProgress: Map<string, Promise<Buffer>>;
  /** Files that wait in a client's queue, by file name and client. */
  readonly queued: Map<string, Promise<Buffer>>;
  made: number;
}

/** Opens the service. Nothing is fetched before the first request. */
export async function createImages(options: ImagesOptions): Promise<Images> {
  const { log } = options;
  const now = options.now ?? Date.now;
  const source = openImageSource({
    allowedHosts: options.allowedHosts,
    ...(options.trustedHost && { trustedHost: options.trustedHost }),
    ...(options.resolve && { resolve: options.resolve }),
    maxSourceBytes: options.maxSourceBytes ?? 32 * 1048576,
    timeoutMs: options.timeoutMs ?? 10_000,
  });
  const state: ImagesState = {
    log,
    cdnHeadersOf: options.cdnHeadersOf ?? (() => ({})),
    source,
    cache: await openDiskCache(options.dir, options.maxBytes, now),
    // By the clock of the process, which runs on when the machine's is set.
    refusals: createRefusals(options.now ?? (() => performance.now())),
    originals: createOriginalChecks({ changedAt: source.changedAt, now }),
    fetching: createFairQueue({ atOnce: trustedConnections, perClient: 2, ...waitingPictures }),
    resizing: createFairQueue({ atOnce: 3, perClient: 2, ...waitingPictures }),
    inProgress: new Map(),
    queued: new Map(),
    made: 0,
  };
  const warn = warnOncePerHost(log);
  return {
    async handle(params, accept, ifNoneMatch = null, client = '') {
      try {
        return await respond(state, params, accept, ifNoneMatch, client);
      } catch (error) {
        return refusalAnswer(error, log);
      }
    },
    async measure(url) {
      try {
        return await sizeOf(await originalForIngest(state, state.source.check(url)));
      } catch (error) {
        warn("A picture couldn't be measured", url, { reason: (error as Error).message });
        return null;
      }
    },
    changed: (files) => changed(state, files),
    made: () => state.made,
    close: () => state.source.close(),
  };
}

async function respond(
  state: ImagesState,
  params: URLSearchParams,
  accept: string | null,
  ifNoneMatch: string | null,
  client: string,
): Promise<ImageAnswer> {
  const request = readParams(params, state.source);
  // Crawlers of social networks need JPEG, whatever their Accept header says.
  const varies = !request.height;
  const wanted = varies ? negotiate(accept) : 'jpeg';
  const body = await pictureFor(state, request, wanted, networkOf(client));
  const etag = `"${hashOf(body)}"`;
  const headers = {
    'content-type': contentType(wanted, body),
    // A browser's cache can't be purged when a picture is deleted, so it keeps pictures only for a day.
    'cache-control': 'public, max-age=86400, stale-while-revalidate=3600',
    ...(varies && { vary: 'Accept' }),
    etag,
    // A picture that is opened as a page must not run scripts.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
    ...state.cdnHeadersOf([fileTag(request.url), tag.pictures], varies),
  };
  if (matchesEtag(ifNoneMatch ?? undefined, etag)) return { status: 304, headers, body: '' };
  return { status: 200, headers: { ...headers, 'content-length': String(body.length) }, body };
}

async function pictureFor(
  state: ImagesState,
  request: PictureRequest,
  wanted: Format,
  client: string,
): Promise<Buffer> {
  const { cache, refusals, resizing } = state;
  const name = fileName(request, wanted);
  const file = digest(request.url.href);
  const fetchedAt = (): number => cache.written(originalOf(file));
  const cached = await cache.get(name);
  const fetched = fetchedAt();
  if (cached || fetched > 0) {
    const originalState = await state.originals.check(request.url, { fetched, made: cache.written(name) });
    if (originalState === 'same' && cached) return cached;
    if (originalState === 'gone') refusals.note(file, new ImageError(404, 'The original of this picture was deleted.'));
    if (originalState !== 'same') await drop(state, request.url);
  }
  const refused = refusals.known(file, name);
  if (refused) throw refused;
  // The original is fetched before the resize takes a place in the queue, which must not wait for a slow host.
  await original(state, request.url, client);
  const used = fetchedAt();
  try {
    return await queue(state, resizing, client, { name }, () => make(state, request, wanted, client));
  } catch (error) {
    // Other sizes may succeed, and so may this one if the original was replaced during the work.
    if (error instanceof ImageError && error.status < 500 && fetchedAt() === used) refusals.note(file, error, name);
    throw error;
  }
}

const fileName = ({ url, width, height, quality }: PictureRequest, wanted: Format): string =>
  `${digest(`${url.href} ${width} ${height} ${quality}`)}.${wanted}`;

async function changed(
  { cache, inProgress, originals, refusals }: ImagesState,
  { digests, anyFile }: ChangedFiles,
): Promise<void> {
  originals.forget(digests, anyFile);
  await Promise.all(
    digests.map(async (each) => {
      const name = originalOf(each);
      // A fetch in progress may return the previous version.
      await inProgress.get(name)?.catch(() => {});
      // Resized pictures stay, in case the file is unchanged or its host doesn't answer.
      await cache.remove(name);
    }),
  );
  refusals.forget(digests, anyFile);
}

/** Names of all pictures that may be made from an original. */
function fileNames(url: URL): string[] {
  const { quality, social } = publication.images;
  const formats = ['avif', 'webp', 'original'] as const;
  const names = imageWidths.flatMap((width) => formats.map((format) => fileName({ url, width, quality }, format)));
  return [...names, fileName({ url, ...social, quality }, 'jpeg')];
}

/** Removes an original and all pictures made from it. */
async function drop({ cache }: ImagesState, url: URL): Promise<void> {
  await Promise.all([...fileNames(url), originalName(url)].map((name) => cache.remove(name)));
}

/** Creates a file once at a time; concurrent callers get the same bytes. */
function once(
  { inProgress, cache, log }: ImagesState,
  name: string,
  maxAgeMs: number | undefined,
  make: () => Promise<Buffer>,
): Promise<Buffer> {
  const running = inProgress.get(name);
  if (running) return running;
  const creation = (async () => {
    const cached = await cache.get(name, maxAgeMs);
    if (cached) return cached;
    const bytes = await make();
    await cache.put(name, bytes).catch((error) => log.error({ err: error }, "A picture couldn't be stored on disk"));
    return bytes;
  })().finally(() => inProgress.delete(name));
  inProgress.set(name, creation);
  return creation;
}

/** A file from the cache, from a creation in progress, or created when it is the client's turn. */
function queue(
  state: ImagesState,
  fairQueue: FairQueue,
  client: string,
  { name, maxAgeMs }: { readonly name: string; readonly maxAgeMs?: number },
  make: () => Promise<Buffer>,
): Promise<Buffer> {
  const { inProgress, queued, cache } = state;
  const key = `${name} ${client}`;
  const known = inProgress.get(name) ?? queued.get(key);
  if (known) return known;
  const file = (async () => {
    const cached = await cache.get(name, maxAgeMs);
    return cached ?? (await fairQueue.run(client, () => once(state, name, maxAgeMs, make)));
  })()
    .catch((error: unknown) => {
      throw error instanceof QueueFull ? new ImageError(503, 'Too many pictures are waiting.') : error;
    })
    .finally(() => queued.delete(key));
  queued.set(key, file);
  return file;
}

const originalOf = (fileDigest: string): string => `${fileDigest}.src`;
const originalName = (url: URL): string => originalOf(digest(url.href));

async function fetchOriginal({ source, cache }: ImagesState, url: URL, name: string, caller: Caller): Promise<Buffer> {
  try {
    return await source.fetch(url.href, caller);
  } catch (error) {
    // An old original is better than none while its host is down.
    const cached = error instanceof ImageError && error.status >= 500 ? await cache.get(name) : null;
    if (cached) return cached;
    throw error;
  }
}

/** The original for readers: in the client's turn, and not again and again where it doesn't exist. */
function original(state: ImagesState, url: URL, client: string): Promise<Buffer> {
  const { refusals, fetching } = state;
  const name = originalName(url);
  return queue(state, fetching, client, { name, maxAgeMs: originalsMaxAge }, async () => {
    // A request of another client may have been refused in the meantime.
    const refused = refusals.known(digest(url.href));
    if (refused) throw refused;
    const wait = refusals.waitOf(client);
    if (wait > 0) throw new ImageError(503, "Too many requests for pictures that don't exist.", { retryAfter: wait });
    try {
      return await fetchOriginal(state, url, name, 'readers');
    } catch (error) {
      if (error instanceof ImageError) {
        if (error.status === 404) await drop(state, url);
        refusals.note(digest(url.href), error);
        refusals.count(client);
      }
      throw error;
    }
  });
}

/** The original for ingest, outside the readers' queue, connections and refusals. */
async function originalForIngest(state: ImagesState, url: URL): Promise<Buffer> {
  const name = originalName(url);
  const bytes = await once(state, name, originalsMaxAge, () => fetchOriginal(state, url, name, 'ingest'));
  state.refusals.forget([digest(url.href)]);
  return bytes;
}

/** Makes a picture, again if its original is replaced during the work: the cached picture would count as made of the new one. */
async function make(state: ImagesState, request: PictureRequest, wanted: Format, client: string): Promise<Buffer> {
  const { cache } = state;
  const name = originalName(request.url);
  for (let tries = 1; ; tries++) {
    const written = cache.written(name);
    const bytes = await resize(await original(state, request.url, client), request, wanted);
    state.made++;
    if (cache.written(name) === written || tries === mostTries) return bytes;
  }
}

interface PictureRequest extends Size {
  readonly url: URL;
}

function readParams(params: URLSearchParams, source: ImageSource): PictureRequest {
  const address = params.get('url') ?? '';
  if (address.length > 2048) throw new ImageError(400, 'The parameter "url" is too long.');
  if (params.has('crop')) {
    if (params.get('crop') !== 'social') throw new ImageError(400, 'The parameter "crop" may only be "social".');
    return { url: source.check(address), ...publication.images.social, quality: publication.images.quality };
  }
  const width = wholeNumber(params.get('width'));
  if (!imageWidths.includes(width)) {
    throw new ImageError(400, `The parameter "width" must be one of ${imageWidths.join(', ')}.`);
  }
  const quality = params.has('quality') ? wholeNumber(params.get('quality')) : publication.images.quality;
  if (!Number.isInteger(quality) || quality < 1 || quality > 100) {
    throw new ImageError(400, 'The parameter "quality" must be a whole number from 1 to 100.');
  }
  // Only one quality for each picture: any other would be fetched, created and stored as well.
  return { url: source.check(address), width, quality: publication.images.quality };
}

/** A number in plain digits; `0x280` and `6.4e2` would be additional addresses of the same picture. */
const wholeNumber = (text: string | null): number => (/^\d{1,4}$/.test(text ?? '') ? Number(text) : Number.NaN);

/** Best format that the browser names outright; `image/*` alone promises neither AVIF nor WebP. */
function negotiate(accept: string | null): Format {
  const offers = qualitiesOf(accept ?? '');
  return (['avif', 'webp'] as const).find((format) => (offers.get(`image/${format}`) ?? 0) > 0) ?? 'original';
}
