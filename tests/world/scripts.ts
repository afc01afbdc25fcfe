/** The JavaScript that a page loads. */
import { gzipSync } from 'node:zlib';
import type { Page, Response } from '@playwright/test';

export interface LoadedScripts {
  /** Addresses, in the order of loading. */
  readonly urls: readonly string[];
  /** Bytes by path, gzip. */
  sizes(): Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

/**
 * Records the scripts that a page loads from now on. Their code is fetched again to measure it, because the browser drops a response's
 * body when the page navigates.
 */
export function scriptsOf(page: Page): LoadedScripts {
  const urls: string[] = [];
  const weights = new Map<string, Promise<number>>();
  const onResponse = (response: Response) => {
    if (response.request().resourceType() === 'script') urls.push(response.url());
  };
  page.on('response', onResponse);
  const weigh = async (url: string): Promise<number> => {
    const response = await page.request.get(url);
    if (!response.ok()) throw new Error(`${url} answered ${response.status()} when it was to be weighed.`);
    return gzipSync(await response.body()).byteLength;
  };
  return {
    urls,
    async sizes() {
      const sizes: Record<string, number> = {};
      for (const url of urls) {
        if (!weights.has(url)) weights.set(url, weigh(url));
        sizes[new URL(url).pathname] = (await weights.get(url)) ?? 0;
      }
      return sizes;
    },
    stop: () => void page.off('response', onResponse),
  };
}
