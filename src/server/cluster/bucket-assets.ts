/** The nodes' hashed files in a bucket with the S3 protocol. */
import { readFile } from 'node:fs/promises';
import { type BucketSettings, openBucket } from './bucket.ts';
import { type AssetStore, keptForMs } from './shared-assets.ts';

export interface BucketAssetsOptions {
  readonly settings: BucketSettings;
  /** Timeout for one request, milliseconds; 5000 by default. */
  readonly requestMs?: number;
}

/** Longest time that `give` may take, milliseconds. */
const giveMs = 60_000;
/** Requests at a time of `give`. */
const lines = 8;

export function createBucketAssets(options: BucketAssetsOptions): AssetStore {
  const { settings, requestMs = 5000 } = options;
  const bucket = openBucket(settings, requestMs);
  return {
    mostQuestions: 16,
    async give(files) {
      const until = performance.now() + giveMs;
      const there = await bucket.list();
      // Uploaded again once in a third of the time, a file in use never gets as old as those that are deleted.
      const due = [...files].filter(([path]) => (there.get(path) ?? 0) < Date.now() - keptForMs / 3);
      await inLines(due, async ([path, file]) => {
        if (performance.now() > until) throw new Error(`the bucket took longer than ${giveMs} ms for all files`);
        await bucket.put(path, await readFile(file));
      });
      const old = [...there].filter(([path, at]) => at < Date.now() - keptForMs && !files.has(path));
      await inLines(old, ([path]) => bucket.remove(path));
    },
    get: bucket.get,
  };
}

/** Works on several items at a time. @throws the first error; what has not begun is left out then */
async function inLines<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const line = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
      await work(item).catch((error: unknown) => {
        rest.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
}
