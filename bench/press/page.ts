/** The article that the bench serves: 26 kB of HTML that compresses like an article, and its headers. */
import { encode } from '../../src/press/cache/compressor.server.ts';
import type { Bodies, StoredPage } from '../../src/press/store/stored-page.ts';

const words =
  'the of and to in a is that for it was on as with his he be at by this had not are but from or have an they which one you were all her she there would their we him been has when who will no more if out so what up said its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because long each just state those people too mister little good world make very year still see own work men day get here between both life being under three never know same last another while us might great old go come since against right take used himself few house use during without again place around however home small found mayor council harbour bridge budget senator ballot opera ferry'.split(
    ' ',
  );

/** 26 kB: paragraphs of words by a fixed sequence, within the markup of a page. */
export function article(): Buffer {
  let seed = 7;
  const next = (): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed;
  };
  const paragraphs: string[] = [];
  let length = 0;
  for (let number = 0; length < 25_200; number++) {
    const text = Array.from({ length: 60 }, () => words[next() % words.length]).join(' ');
    const paragraph = `<p class="body-text" id="p${number}">${text}. <a href="/article/story-${next() % 9999}">${words[next() % words.length]}</a></p>\n`;
    paragraphs.push(paragraph);
    length += paragraph.length;
  }
  return Buffer.from(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Article</title><link rel="stylesheet" href="/_assets/page.css"></head><body><main><article>${paragraphs.join('')}</article></main></body></html>`,
  );
}

/** What goes out with every page: the site's security headers, and caching. nginx sends the same in this bench. */
export const headers: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'public, max-age=0, must-revalidate',
  'content-security-policy':
    "default-src 'self'; base-uri 'self'; object-src 'none'; form-action 'self'; frame-ancestors 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; script-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src 'self' 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), browsing-topics=()',
  'cross-origin-opener-policy': 'same-origin-allow-popups',
};

export const keyOf = (number: number): string => `/article/story-${number}`;

/** One stored article; all of them have the same bytes under keys and tags of their own. */
export async function storedArticle(): Promise<{ at: (number: number) => StoredPage; bodies: Bodies }> {
  const body = article();
  const { bodies, etags } = encode(body, 'text/html');
  const at = (number: number): StoredPage => ({
    key: keyOf(number),
    variant: 'public',
    version: 0,
    build: 'bench',
    status: 200,
    headers: { 'content-type': headers['content-type'] ?? '' },
    access: null,
    hash: 'bench',
    size: body.byteLength,
    tags: [
      `article:${number}`,
      `author:${number % 50}`,
      `section:${number % 10}`,
      'navigation',
      `slug:${number}`,
    ].sort(),
    renderedAt: Date.now(),
    renderMs: 2,
    asOf: null,
    etags,
  });
  return { at, bodies };
}
