/** A folder for hashed files in a bucket with the S3 protocol, used as the nodes' shared file store. */

import { readFile } from 'node:fs/promises';
import { S3Client, S3Errors } from '@bradenmacdonald/s3-lite-client';
import { failAfter } from '../../lib/jobs/tasks.ts';
import { typeOf } from '../http/static-files.ts';
import { type AssetStore, keptForMs } from './shared-assets.ts';

export interface BucketSettings {
  /** Origin of the service, e.g. `https://s3.us-east-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Folder in the bucket, without leading or trailing slashes; empty: none. */
  readonly prefix: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

/** Paths are relative to the folder. All methods throw {@link BucketError}, or Error if a response takes too long. */
export interface BucketFolder {
  /** @returns path to the time of its last upload */
  list(): Promise<Map<string, number>>;
  put(path: string, bytes: Buffer<ArrayBuffer>): Promise<void>;
  remove(path: string): Promise<void>;
  /** @returns `undefined`: there is no such file */
  get(path: string, signal: AbortSignal): Promise<Buffer | undefined>;
}

/** An error message for the operator. */
export class BucketError extends Error {
  override readonly name = 'BucketError';
  readonly result: string;
  /** What to do; `null`: unknown. */
  readonly remedy: string | null;

  constructor(result: string, remedy: string | null) {
    super(remedy === null ? result : `${result}: ${remedy}`);
    this.result = result;
    this.remedy = remedy;
  }
}

/** Source: Amazon S3 API Reference, "Error responses". */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied: 'give the key the rights to list the bucket and to read, write and delete objects',
  AuthorizationHeaderMalformed: 'check ASSETS_BUCKET_REGION',
  AuthorizationQueryParametersError: 'check ASSETS_BUCKET_REGION',
  InvalidAccessKeyId: 'check ASSETS_BUCKET_KEY_ID',
  NoSuchBucket: 'check ASSETS_BUCKET',
  PermanentRedirect: 'name the endpoint of the bucket’s region in ASSETS_BUCKET',
  RequestTimeTooSkewed: 'set the clock of this machine',
  SignatureDoesNotMatch: 'check ASSETS_BUCKET_SECRET',
  UnexpectedRedirect: 'name the endpoint of the bucket’s region in ASSETS_BUCKET',
};

/** @param requestMs milliseconds that one request may take */
export function openBucket(settings: BucketSettings, requestMs: number): BucketFolder {
  const { endpoint, bucket, prefix, region, keyId, secret } = settings;
  const client = new S3Client({ endPoint: endpoint, bucket, region, accessKey: keyId, secretKey: secret });
  // Nothing else in the bucket is listed or deleted, also without a prefix.
  const folder = `${prefix === '' ? '' : `${prefix}/`}_assets/`;

  async function list(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const objects = client.listObjects({ prefix: folder });
    for (;;) {
      const next = await failAfter(requestMs, objects.next());
      if (next.done) return found;
      found.set(next.value.key.slice(folder.length), next.value.lastModified.getTime());
    }
  }

  return {
    list: () => withRetry(list),
    async put(path, bytes) {
      // No Content-Encoding for compressed files: clients would decompress them and get other bytes than the file's.
      const metadata = { 'Content-Type': typeOf(path), 'Cache-Control': 'public, max-age=31536000, immutable' };
      await withRetry(() => failAfter(requestMs, client.putObject(folder + path, bytes, { metadata })));
    },
    remove: (path) => withRetry(() => failAfter(requestMs, client.deleteObject(folder + path))),
    async get(path, signal) {
      // The client's own requests can't be aborted.
      const url = await client.presignedGetObject(folder + path, { expirySeconds: 60 });
      try {
        const response = await fetch(url, { signal, redirect: 'error' });
        if (response.ok) return Buffer.from(await response.arrayBuffer());
        const error = await S3Errors.parseServerError(response);
        if (error.code === 'NoSuchKey') return undefined;
        throw error;
      } catch (error) {
        throw explained(error);
      }
    },
  };
}

/** Sends a request, and repeats it once if a second try may succeed. */
async function withRetry<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request().catch((error: unknown) => {
      const isTemporary = error instanceof S3Errors.ServerError ? error.statusCode >= 500 : error instanceof TypeError;
      if (isTemporary) return request();
      throw error;
    });
  } catch (error) {
    throw explained(error);
  }
}

/** The error as the operator reads it: without the server's own text, which may repeat the request. */
function explained(error: unknown): Error {
  if (error instanceof S3Errors.ServerError)
    return new BucketError(`the bucket answers ${error.statusCode} ${error.code}`, remedies[error.code] ?? null);
  const { cause } = error as Error;
  return cause instanceof Error
    ? new BucketError(`the bucket can't be reached: ${cause.message}`, null)
    : (error as Error);
}

export interface BucketAssetsOptions {
  readonly settings: BucketSettings;
  /** Timeout for one request, milliseconds; 5000 by default. */
  readonly requestMs?: number;
}

/** Longest time that `give` may take, milliseconds. */
const giveMs = 60_000;
/** Concurrent requests of `give`. */
const concurrency = 8;

export function createBucketAssets(options: BucketAssetsOptions): AssetStore {
  const { settings, requestMs = 5000 } = options;
  const bucket = openBucket(settings, requestMs);
  return {
    mostLookUps: 16,
    async give(files) {
      const until = performance.now() + giveMs;
      const there = await bucket.list();
      // Uploaded again once in a third of the time, a file in use never gets as old as those that are deleted.
      const due = [...files].filter(([path]) => (there.get(path) ?? 0) < Date.now() - keptForMs / 3);
      await inParallel(due, async ([path, file]) => {
        if (performance.now() > until) throw new Error(`the bucket took longer than ${giveMs} ms for all files`);
        await bucket.put(path, await readFile(file));
      });
      const old = [...there].filter(([path, at]) => at < Date.now() - keptForMs && !files.has(path));
      await inParallel(old, ([path]) => bucket.remove(path));
    },
    get: bucket.get,
  };
}

/** Processes several items at a time. @throws the first error; items that haven't started are then skipped */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
      await work(item).catch((error: unknown) => {
        rest.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
