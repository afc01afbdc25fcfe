/** What a page loads of JavaScript. */
import { gzipSync } from 'node:zlib';
import type { Page, Response } from '@playwright/test';

export interface LoadedScripts {
  /** Addresses, in their order. */
  readonly urls: readonly string[];
  /** Bytes by path, gzip. */
  sizes(): Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

/**
 * Notes the scripts that a page loads from now on. Their code is fetched once more to be weighed: the browser forgets a body as soon as
 * the page moves on.
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
