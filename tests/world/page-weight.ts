/** What a page weighs: its HTML as a server sends it, and what each part of it costs. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';

/** Level 6, as nginx compresses. */
const gzipBytes = (text: string): number => gzipSync(text, { level: 6 }).byteLength;

/** Parts of a page by name, as the text of its HTML shows them. */
const parts = {
  /** An article with its head, its tools, its comments and the column next to it. */
  story: /<article class="story[\s\S]*<\/article>/g,
  'header and menus':
    /<header class="site-header[\s\S]*?<\/header>|<nav class="section-nav[\s\S]*?<\/nav>|<dialog class="site-menu[\s\S]*?<\/dialog>/g,
  footer: /<footer class="site-footer[\s\S]*?<\/footer>/g,
  styles: /<style[^>]*>[\s\S]*?<\/style>/g,
  scripts: /<script(?![^>]*(?:\ssrc=|json))[^>]*>[\s\S]*?<\/script>/g,
  'data for machines': /<script[^>]*json[^>]*>[\s\S]*?<\/script>/g,
  icons: /<svg[\s\S]*?<\/svg>/g,
  'marks of scopes': / data-astro-cid-[a-z0-9]+(?:="[^"]*")?/g,
  'other data attributes': / data-(?!astro-cid)[a-z-]+(?:="[^"]*")?/g,
  islands: /<astro-island[^>]*>/g,
} as const;

export type Part = keyof typeof parts;

export interface PageWeight {
  /** Bytes of the whole, gzip. */
  readonly all: number;
  readonly brotli: number;
  /** Bytes, gzip, that the page saves without this part. */
  readonly of: Readonly<Record<Part, number>>;
  /** Bytes, gzip, of everything but the story, or of the whole page if it has no story. */
  readonly shell: number;
}

export function weighPage(html: string): PageWeight {
  const all = gzipBytes(html);
  const saved = Object.entries(parts).map(([name, part]) => [name, all - gzipBytes(html.replaceAll(part, ''))]);
  const of = Object.fromEntries(saved) as Record<Part, number>;
  const brotli = brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).byteLength;
  return { all, brotli, of, shell: gzipBytes(html.replaceAll(parts.story, '')) };
}

/** What a visit loads in addition to its HTML. @returns bytes over the wire, without headers */
export async function weighVisit(page: Page, path: string): Promise<{ fonts: number; styles: number }> {
  const bytes = { fonts: 0, styles: 0 };
  const sizes: Promise<void>[] = [];
  page.on('response', (response) => {
    const type = response.request().resourceType();
    const kind = type === 'font' ? 'fonts' : type === 'stylesheet' ? 'styles' : null;
    if (kind === null) return;
    const weighed = response.request().sizes();
    sizes.push(
      weighed.then(({ responseBodySize }) => {
        bytes[kind] += responseBodySize;
      }),
    );
  });
  await page.goto(path, { waitUntil: 'networkidle' });
  await page.evaluate(() => document.fonts.ready);
  await Promise.all(sizes);
  return bytes;
}
