/** The HTML of every kind of page, checked by the Nu HTML checker, all in one run. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { APIRequestContext } from '@playwright/test';
import { ensureJava } from '../../scripts/java.ts';
import { dashboardTabs } from '../../src/lib/dashboard/model.ts';
import { fixedPages, pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { expect, signIn, test } from '../world/readers.ts';

const open = [
  ...fixedPages
    .filter(({ signedIn }) => !signedIn)
    .map(({ path }) => (path === '/subscribe' ? '/subscribe?plan=reader-yearly' : path)),
  ...['/latest?page=2', '/section/politics', '/search?q=harbor', '/search?q=zzzzqqq'],
  ...['/account/link-sent', '/account/enter-code', '/account/signed-out', '/account/deleted', '/no-such-page'],
  ...['/blaize/token-exchange?token=aaaaaaaaaaaaaaaaaaaaaaaa', '/account/unsubscribe?token=aaaa', '/gift/aaaaaaaaaaaa'],
  // A news story, both kinds of paywall, an embed, tables, another language, comments.
  ...['crack-closes-mississippi-bridge', 'what-subscribers-know-about-salt', 'an-exhibition-of-mistakes'].map(article),
  ...['a-film-in-the-middle-of-the-page', 'forty-word-headline', 'arabic-baker-of-dearborn'].map(article),
  `${article('crack-closes-mississippi-bridge')}/comments`,
];
const own = [...dashboardTabs.map(({ slug }) => `/dashboard/${slug}`), ...pathsOf('signedIn'), '/cancel'];

/** Addresses that are answered with a page about what is wrong with them. */
const refused = /^\/(?:no-such-page|blaize\/token-exchange|account\/unsubscribe|gift\/)/;

/** Messages to ignore: the checker doesn't know these features yet, or they aren't its concern. */
const beside = [
  // The checker's CSS grammar is years behind browsers; the build checks style sheets.
  /^CSS: /,
  // `rel=expect` with `blocking=render` is in the standard since 2024.
  /“link” element with a “blocking” attribute must have a “rel” attribute whose value is “stylesheet”/,
  // A frame of another site, which the other origin isolates (layouts/Game.astro).
  /Setting both “allow-scripts” and “allow-same-origin”/,
];

function article(slug: string): string {
  return `/article/${slug}`;
}

interface Message {
  readonly type: string;
  readonly url: string;
  readonly message: string;
  readonly extract?: string;
}

/** One page of each kind whose addresses depend on the edition. */
async function ofTheEdition(request: APIRequestContext): Promise<string[]> {
  const sitemap = await (await request.get('/sitemaps/pages.xml')).text();
  const paths = [...sitemap.matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g)].map((match) => match[1] ?? '');
  return ['/author/', '/media/', '/games/'].map((prefix) => paths.find((path) => path.startsWith(prefix)) ?? prefix);
}

test('every kind of page is valid HTML', async ({ context, request }) => {
  test.setTimeout(600_000);
  const java = await ensureJava(process.env);
  const folder = mkdtempSync(join(tmpdir(), 'markup-'));
  const pages = new Map<string, string>();
  const keep = async (asking: APIRequestContext, path: string) => {
    const answer = await asking.get(path);
    // A page that is missing or asks to sign in would be valid, too.
    expect(String(answer.status()), path).toMatch(refused.test(path) ? /^4/ : /^200$/);
    if (own.includes(path) || path.startsWith('/article/')) expect(new URL(answer.url()).pathname).toBe(path);
    expect(answer.headers()['content-type'], path).toContain('text/html');
    const file = join(folder, `${pages.size}.html`);
    writeFileSync(file, await answer.text());
    pages.set(pathToFileURL(file).href.replace('file:///', 'file:/'), path);
  };
  try {
    for (const path of [...open, ...(await ofTheEdition(request))]) await keep(request, path);
    await signIn(context);
    for (const path of own) await keep(context.request, path);
    const jar = createRequire(import.meta.url).resolve('vnu-jar/build/dist/vnu.jar');
    const args = ['-Xss4m', '-jar', jar, '--errors-only', '--format', 'json', '--exit-zero-always', '--stdout', folder];
    const { stdout } = await promisify(execFile)(java, args, { maxBuffer: 64 * 1024 * 1024 });
    const { messages } = JSON.parse(stdout) as { messages: readonly Message[] };
    const wrong = messages
      .filter(({ message }) => !beside.some((pattern) => pattern.test(message)))
      .map(({ url, message, extract }) => `${pages.get(url) ?? url}: ${message} (${extract ?? ''})`);
    expect(wrong).toEqual([]);
    // The checker has really run: each page has the one message about an unknown feature.
    const looked = new Set(messages.map(({ url }) => url));
    expect([...pages.keys()].filter((page) => !looked.has(page))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
