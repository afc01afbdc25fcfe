/**
 * The files of `dist/client`: indexed once, at start, so that an address is looked up and never turned into a path.
 * Compressed files (`.br`, `.gz`) are in the same folder; the build creates them (scripts/compress.ts).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { acceptedEncodings, hashOf, matchesEtag } from '../../lib/http/negotiation.server.ts';
import type { EarlierAssets } from '../../press/store/earlier-assets.server.ts';

export interface StaticAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface Statics {
  has(pathname: string): boolean;
  /**
   * The response for a file; `null` when there is none.
   *
   * @param pathname decoded path of the address
   */
  answer(
    pathname: string,
    headers: { readonly 'accept-encoding'?: string; readonly 'if-none-match'?: string },
  ): StaticAnswer | null;
}

export interface BuiltStatics extends Statics {
  /** The shared dictionary of pages, if the build has one. */
  readonly dictionary: { readonly path: string; readonly bytes: Buffer } | null;
}

interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly immutable: boolean;
  readonly plain: Buffer;
  readonly encoded: Partial<Record<BuiltEncoding, Buffer>>;
}

const types: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml; charset=utf-8',
};

/** The media type of a file, by the end of its name. */
export const typeOf = (path: string): string => types[extname(path).toLowerCase()] ?? 'application/octet-stream';

type BuiltEncoding = 'br' | 'gzip';
const endings: Readonly<Record<BuiltEncoding, string>> = { br: '.br', gzip: '.gz' };

/** The compressed file that suits the browser best, of those that the build has. */
const bestBuilt = (
  header: string | undefined,
  has: (encoding: BuiltEncoding) => boolean,
): BuiltEncoding | undefined => {
  const best = acceptedEncodings(header).find((encoding) => encoding === 'identity' || has(encoding));
  return best === 'identity' ? undefined : best;
};

/** Folder whose file names contain the hash of their content. */
const hashed = '/_assets/';

/** The rules for prefetching links (docs/decisions/0022); the header `Speculation-Rules` of pages names this file. */
export const speculationRules = '/speculation-rules.json';

/** The shared dictionary of pages (docs/decisions/0035). */
const dictionaryFile = /^\/_assets\/pages\.[\w-]+\.dict$/;
/** For all pages, but not for other content that scripts fetch from this site. */
const useAsDictionary = { 'use-as-dictionary': 'match="/*", match-dest=("document")' };

/** Headers of single files. */
const headersByFile: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  /**
   * The service worker for offline stories (src/client/story-worker.ts). The policy of its own response applies to it: it may fetch only
   * from this site. Browsers check for a new version at each visit, so no cache in between may serve an old one.
   */
  '/sw.js': {
    'cache-control': 'no-cache',
    'content-security-policy': "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
  },
  // Every page requests this file, and browsers ignore it if it has another media type.
  [speculationRules]: {
    'content-type': 'application/speculationrules+json',
    'cache-control': 'public, max-age=86400',
  },
};

/** Hashed files of earlier builds: a browser with yesterday's page still finds the files that it names. */
export function earlierFiles(
  assets: Pick<EarlierAssets, 'find'>,
): (
  pathname: string,
  headers: { readonly 'accept-encoding'?: string; readonly 'if-none-match'?: string },
) => Promise<StaticAnswer | null> {
  return async (pathname, request) => {
    const path = pathname.slice(hashed.length);
    if (/\.(?:br|gz)$/.test(path)) return null;
    const wanted = bestBuilt(request['accept-encoding'], () => true);
    const smaller = wanted ? await assets.find(path + endings[wanted]) : undefined;
    const body = smaller ?? (await assets.find(path));
    if (!body) return null;
    const headers: Record<string, string> = {
      'content-type': typeOf(path),
      'content-length': String(body.byteLength),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    };
    if (smaller && wanted) headers['content-encoding'] = wanted;
    return { status: 200, headers, body };
  };
}

/** Indexes a folder of static files; a missing folder has none. */
export function openStatics(folder: string): BuiltStatics {
  const assets = new Map<string, Asset>();
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    // Dot files are private; symbolic links could lead anywhere.
    if (!file.isFile() || file.name.startsWith('.') || /\.(?:br|gz)$/.test(file.name)) continue;
    const plain = readFileSync(path);
    const encoded: Partial<Record<BuiltEncoding, Buffer>> = {};
    for (const [encoding, ending] of Object.entries(endings) as [BuiltEncoding, string][]) {
      if (existsSync(path + ending)) encoded[encoding] = readFileSync(path + ending);
    }
    const pathname = `/${relative(folder, path).split(sep).join('/')}`;
    assets.set(pathname, {
      type: typeOf(path),
      etag: hashOf(plain),
      immutable: pathname.startsWith(hashed),
      plain,
      encoded,
    });
  }

  const dictionary = [...assets].find(([pathname]) => dictionaryFile.test(pathname));
  return {
    has: (pathname) => assets.has(pathname),
    dictionary: dictionary ? { path: dictionary[0], bytes: dictionary[1].plain } : null,
    answer(pathname, request) {
      const asset = assets.get(pathname);
      if (!asset) return null;
      const wanted = bestBuilt(request['accept-encoding'], (encoding) => asset.encoded[encoding] !== undefined);
      const bytes = wanted && asset.encoded[wanted];
      const etag = `"${asset.etag}${wanted ? `-${wanted}` : ''}"`;
      const headers: Record<string, string> = {
        'cache-control': asset.immutable
          ? 'public, max-age=31536000, immutable'
          : 'public, max-age=3600, must-revalidate',
        etag,
        ...headersByFile[pathname],
        ...(dictionaryFile.test(pathname) && useAsDictionary),
      };
      if (Object.keys(asset.encoded).length > 0) headers.vary = 'Accept-Encoding';
      if (matchesEtag(request['if-none-match'], etag)) return { status: 304, headers, body: null };
      const body = bytes ?? asset.plain;
      headers['content-type'] ??= asset.type;
      headers['content-length'] = String(body.byteLength);
      if (wanted) headers['content-encoding'] = wanted;
      return { status: 200, headers, body };
    },
  };
}
