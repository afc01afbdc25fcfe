/**
 * The finished site as `npm run serve` starts it, on the demo edition: three real pages with every header, compared with nginx and
 * node:http with the same bytes and headers. Then an article under a thousand connections, a mix of readers' requests, and an article over
 * TLS: each of the three behind the same nginx and the same Caddy, as the examples of deploy/ set them up.
 */
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { ensureSandbox } from '../../sandbox/setup.mjs';
import { root } from '../../scripts/setup/places.mjs';
import { step } from '../../scripts/setup/steps.mjs';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessCookieName, accessKeysOf } from '../../src/server/secrets.ts';
import { siteData, startWorld, type World } from '../../tests/world/world.ts';
import { count, median, printTable } from '../support/figures.ts';
import { stolenBetween, ticks } from '../support/stolen.ts';
import { compete, type Runner, ratioOf, wrongOf } from './compare.ts';
import {
  defaultConnections,
  hasWrk,
  isInstalled,
  pin,
  type ServedPage,
  startNginx,
  startNodeHttp,
  type Target,
} from './contenders.ts';
import { createCertificate, reverseProxies } from './reverse-proxies.ts';

const pages = [
  { name: 'article', path: '/article/crack-closes-mississippi-bridge' },
  { name: 'section', path: '/section/politics' },
  { name: 'home', path: '/' },
] as const;
const restricted = '/article/what-subscribers-know-about-salt';

/** Least share of nginx's requests per second of processor time. */
const bound = 1;

/** What a comparison shows. */
export interface Verdict {
  readonly what: string;
  readonly holds: boolean;
  readonly figure: string;
}

/** Headers that each server writes by itself for each connection or moment. */
const serverHeaders = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

/** Requests a page as a reader's browser does, and keeps the response unchanged. */
function fetchPage(site: string, path: string, cookie?: string): Promise<ServedPage> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'gzip', ...(cookie && { cookie }) };
    get(`${site}${path}`, { headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('error', reject);
      incoming.once('end', () => {
        if (incoming.statusCode !== 200 || incoming.headers['content-encoding'] !== 'gzip')
          return reject(new Error(`${path} was answered ${incoming.statusCode}, not compressed by gzip.`));
        const pairs: [string, string][] = [];
        for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
          const [name = '', value = ''] = incoming.rawHeaders.slice(at, at + 2);
          if (!serverHeaders.includes(name.toLowerCase())) pairs.push([name, value.trim()]);
        }
        resolve({ path, headers: pairs, gzip: Buffer.concat(chunks).toString('base64') });
      });
    }).once('error', reject);
  });
}

const etagOf = async (port: number, path: string): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'accept-encoding': 'gzip' } });
  await response.arrayBuffer();
  return response.headers.get('etag') ?? '"none"';
};

/** Servers of the same pages, the product first. */
interface Servers {
  readonly site: Target;
  readonly nginx: Target | null;
  readonly nodeHttp: Target;
}

/**
 * Starts the sandbox and the site, compares, and prints a table.
 *
 * @param folder for files of the bench
 * @returns a verdict for each bound; empty where nginx isn't installed
 */
export async function compareProduct(folder: string): Promise<readonly Verdict[]> {
  await step('Setting up the sandbox', () => ensureSandbox({ root, onProgress: () => {} }));
  const world: World = await step('Starting WordPress and the site', (progress) =>
    startWorld({ withSite: true, progress }),
  );
  const address = String(world.site);
  const before = ticks();
  try {
    const access = createAccessCookie({
      name: accessCookieName,
      keys: accessKeysOf({ accessKeys: null, dataDir: siteData }),
    });
    const cookie = `${accessCookieName}=${access.sign('subscriber', Math.floor(Date.now() / 1000) + 3600)}`;
    const served = await Promise.all([
      ...pages.map(({ path }) => fetchPage(address, path)),
      fetchPage(address, restricted, cookie),
    ]);
    const site = { port: Number(new URL(address).port), pid: Number(world.pid) };
    pin(site.pid);
    const nginx = isInstalled('nginx', '-v') ? await startNginx(folder, served, false) : null;
    if (!nginx)
      console.log('nginx is not installed and was left out; on Debian and Ubuntu: apt-get install nginx-light');
    const servers: Servers = { site, nginx, nodeHttp: await startNodeHttp(folder, served) };
    const rows: Row[] = [];
    for (const [at, { name, path }] of pages.entries()) {
      const size = Buffer.from(served[at]?.gzip ?? '', 'base64').byteLength;
      const lines = () => [`${path}\tAccept-Encoding: gzip`];
      rows.push(await row(folder, `${name}, ${(size / 1000).toFixed(1)} kB`, servers, defaultConnections, lines));
    }
    const article = pages[0].path;
    rows.push(
      await row(folder, 'article, 1,000 connections', servers, 1000, () => [`${article}\tAccept-Encoding: gzip`]),
    );
    const etags = new Map<number, string>();
    for (const each of [servers.site, servers.nginx, servers.nodeHttp]) {
      if (each) etags.set(each.port, await etagOf(each.port, article));
    }
    const mixture = ({ port }: Target) => readersRequests(article, cookie, etags.get(port) ?? '');
    rows.push(await row(folder, 'mixture, 10 % restricted, 5 % unchanged', servers, defaultConnections, mixture));
    if (hasWrk) rows.push(...(await behindProxies(folder, servers, article)));
    return report(rows, stolenBetween(before, ticks()));
  } finally {
    await world.stop();
  }
}

/** The article over TLS: each server behind the same proxy, whose processor time counts, too. */
async function behindProxies(folder: string, servers: Servers, path: string): Promise<readonly Row[]> {
  const tls = createCertificate(folder);
  const rows: Row[] = [];
  for (const { name, install, installed, start } of reverseProxies) {
    if (!installed) {
      console.log(`${name} is not installed and was left out; on Debian and Ubuntu: ${install}`);
      continue;
    }
    const site = await start(folder, tls, servers.site);
    const nginx = servers.nginx && (await start(folder, tls, servers.nginx));
    const nodeHttp = await start(folder, tls, servers.nodeHttp);
    const lines = () => [`${path}\tAccept-Encoding: gzip`];
    rows.push(
      await row(folder, `article, TLS by ${name} in front`, { site, nginx, nodeHttp }, defaultConnections, lines),
    );
    for (const each of [site, nginx, nodeHttp]) await each?.stop();
  }
  return rows;
}

/** Twenty requests: two for a restricted story with a cookie, one for a page that the browser has. */
function readersRequests(article: string, cookie: string, etag: string): string[] {
  const ask = (path: string, ...more: string[]) => [path, 'Accept-Encoding: gzip', ...more].join('\t');
  return Array.from({ length: 20 }, (_, at) => {
    if (at % 10 === 3) return ask(restricted, `Cookie: ${cookie}`);
    if (at === 7) return ask(article, `If-None-Match: ${etag}`);
    return ask(pages[at % 3]?.path ?? article);
  });
}

interface Row {
  readonly name: string;
  readonly site: Runner;
  readonly nginx: Runner | null;
  readonly nodeHttp: Runner;
}

async function row(
  folder: string,
  name: string,
  { site, nginx, nodeHttp }: Servers,
  connections: number,
  lines: (server: Target) => readonly string[],
): Promise<Row> {
  const runner = (contender: Target): Runner => {
    const paths = join(folder, `${name.replace(/\W+/g, '-')}-${contender.port}.txt`);
    writeFileSync(paths, `${lines(contender).join('\n')}\n`);
    return { name, contender, paths, connections, results: [] };
  };
  const all = { name, site: runner(site), nginx: nginx && runner(nginx), nodeHttp: runner(nodeHttp) };
  await compete([all.site, all.nginx, all.nodeHttp].filter((each) => each !== null));
  return all;
}

function report(rows: readonly Row[], stolen: number | null): readonly Verdict[] {
  const rate = ({ results }: Runner) => count(Math.round(median(results.map(({ perCore }) => perCore))));
  const compared = (a: Runner, b: Runner) => ratioOf(a.results, b.results);
  printTable([
    [
      'Requests per second of processor time',
      'the site',
      'nginx',
      'node:http',
      '× nginx',
      '× node:http',
      'p99 ms',
      'wrong',
    ],
    ...rows.map(({ name, site, nginx, nodeHttp }) => [
      ...[name, rate(site), nginx ? rate(nginx) : '-', rate(nodeHttp)],
      ...[nginx ? compared(site, nginx).toFixed(2) : '-', compared(site, nodeHttp).toFixed(2)],
      median(site.results.map(({ p99 }) => p99)).toFixed(1),
      count([site, nginx, nodeHttp].reduce((sum, each) => sum + wrongOf(each?.results ?? []), 0)),
    ]),
  ]);
  if (stolen !== null)
    console.log(`The host took ${(stolen * 100).toFixed(1)} % of the processor time during the runs.`);
  console.log('');
  return rows.flatMap(({ name, site, nginx, nodeHttp }) => {
    const wrong = [site, nginx, nodeHttp].reduce((sum, each) => sum + wrongOf(each?.results ?? []), 0);
    if (!nginx) return [];
    const ratio = compared(site, nginx);
    return [
      {
        what: `${name}: at least ${bound.toFixed(1)} × nginx gzip_static`,
        holds: ratio >= bound,
        figure: ratio.toFixed(2),
      },
      { what: `${name}: no wrong responses`, holds: wrong === 0, figure: String(wrong) },
    ];
  });
}
