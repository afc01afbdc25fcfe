/**
 * Third parties that load scripts into pages: tag manager, audience tool, push notifications, referral widget, booking page and ad
 * server. Each stand-in is a small script with the same interface, which reports its calls to this server:
 *
 *     GET  /gtm/gtm.js?id=…  /marfeel/marfeel-sdk.js?id=…  /onesignal/OneSignalSDK.page.js  /onesignal/OneSignalSDK.sw.js
 *          /growsurf/growsurf.js  /calendly/widget.js  /calendly/widget.css  /calendly/book/…  /gpt/gpt.js  /cmp/choice.js?id=…
 *     GET  /gpt/ads?slot=…&size=…    {"empty": boolean}      GET /gpt/creative?size=970x250&slot=…
 *     POST /reports/<vendor>         {what, details}
 *     GET  /api/calls?reader=…       {"calls": […]}          DELETE removes them
 *     PUT  /api/modes                {reader, vendor, mode}
 *
 * Readers are distinguished by `X-Forwarded-For`; without it, the reader is `anyone`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, html, json, listenWeb, type Route, text, type Call as WebCall } from '../web.ts';
import { type Calls, createCalls, type Mode, modes, readerOf, type Vendor, vendors } from './calls.ts';
import { consentPlatformRoutes } from './consent-platform.ts';
import { documentedShapes } from './documented-shapes.ts';
import { bookingPage, creative } from './pages.ts';

export interface ThirdPartyAccess {
  /** Address without a slash at its end. */
  readonly url: string;
}

export interface ThirdParty {
  readonly access: ThirdPartyAccess;
  stop(): Promise<void>;
}

const folder = path.join(import.meta.dirname, 'scripts');
/** Milliseconds that a slow script takes. */
const slowMs = 30_000;

/** The format of each vendor's account ids; a request without one, or with another, gets 404. */
const accountFormats: Partial<Record<Vendor, RegExp>> = {
  gtm: /^GTM-[A-Z0-9]{4,12}$/,
  marfeel: /^\d{1,10}$/,
  cmp: /^sandbox$/,
};

const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };

export async function startThirdParty(): Promise<ThirdParty> {
  const calls = createCalls();
  const server = await listenWeb(
    [...scriptRoutes(calls), ...consentPlatformRoutes(calls), ...reportRoutes(calls), ...testRoutes(calls)],
    { port: 0, name: "the sandbox's third parties" },
  );
  return { access: { url: server.url }, stop: server.close };
}

const scripts: Readonly<Record<string, { vendor: Vendor; file: string }>> = {
  '/gtm/gtm.js': { vendor: 'gtm', file: 'gtm.js' },
  '/marfeel/marfeel-sdk.js': { vendor: 'marfeel', file: 'marfeel.js' },
  '/onesignal/OneSignalSDK.page.js': { vendor: 'onesignal', file: 'onesignal.js' },
  '/onesignal/OneSignalSDK.sw.js': { vendor: 'onesignal', file: 'onesignal-worker.js' },
  '/growsurf/growsurf.js': { vendor: 'growsurf', file: 'growsurf.js' },
  '/calendly/widget.js': { vendor: 'calendly', file: 'calendly.js' },
  '/gpt/gpt.js': { vendor: 'gpt', file: 'gpt.js' },
  '/cmp/choice.js': { vendor: 'cmp', file: 'cmp.js' },
};

function scriptRoutes(calls: Calls): Route[] {
  return [
    ...Object.entries(scripts).map(
      ([address, { vendor, file }]): Route => ({
        method: 'GET',
        path: new RegExp(`^${address.replaceAll('.', '\\.')}$`),
        handle: (call) => answerScript(calls, vendor, file, call),
      }),
    ),
    {
      method: 'GET',
      path: /^\/calendly\/widget\.css$/,
      handle: () => ({
        headers: { 'content-type': 'text/css; charset=utf-8' },
        body: fs.readFileSync(path.join(folder, 'calendly.css'), 'utf8'),
      }),
    },
    {
      method: 'GET',
      path: /^\/calendly\/book\/([\w-]+)$/,
      handle: ({ groups: [calendar = ''] }) => html(bookingPage(calendar)),
    },
    {
      method: 'GET',
      path: /^\/gpt\/ads$/,
      handle({ request, url }) {
        const reader = readerOf(request);
        calls.add(reader, { vendor: 'gpt', what: 'request', details: Object.fromEntries(url.searchParams) });
        return json({ empty: calls.mode(reader, 'gpt') === 'empty' }, 200, corsHeaders);
      },
    },
    {
      method: 'GET',
      path: /^\/gpt\/creative$/,
      handle: ({ url }) => html(creative(url.searchParams.get('size') ?? '', url.searchParams.get('slot') ?? '')),
    },
  ];
}

/** A vendor's script with the check of its callers (checker.js) in front; the names of both aren't in the page's scope. */
export function withCallChecks(vendor: Vendor | 'churnkey', file: string, from = folder): string {
  const read = (name: string, where = folder) => fs.readFileSync(path.join(where, name), 'utf8');
  const generated = JSON.parse(read('../vendor-shapes.json')) as Readonly<Record<string, object>>;
  const shapes = (documentedShapes as Readonly<Record<string, object>>)[vendor] ?? generated[vendor];
  const script = `const shapes = ${JSON.stringify(shapes)};\n${read('checker.js')}\n${read(file, from)}`;
  // A module has its own scope; no page calls a worker, and a consent platform checks its calls itself.
  if (file === 'onesignal-worker.js' || vendor === 'cmp') return read(file, from);
  return vendor === 'marfeel' ? script : `(() => {\n${script}\n})();\n`;
}

async function answerScript(
  calls: Calls,
  vendor: Vendor,
  file: string,
  { request, url, disconnected }: WebCall,
): Promise<Answer | null> {
  const reader = readerOf(request);
  calls.add(reader, {
    vendor,
    what: 'script',
    details: { path: url.pathname, ...Object.fromEntries(url.searchParams) },
  });
  const account = accountFormats[vendor];
  if (account && !account.test(url.searchParams.get('id') ?? '')) {
    calls.add(reader, {
      vendor,
      what: 'fault',
      details: `The script was requested without a valid account: ${url.search}`,
    });
    return text('Not found.\n', 404);
  }
  const mode = calls.mode(reader, vendor);
  if (mode === 'slow') await delay(slowMs, undefined, { signal: disconnected }).catch(() => {});
  if (mode === 'error') return text('Service unavailable.\n', 500);
  if (mode === 'blocked') {
    request.socket.destroy();
    return null;
  }
  const body =
    mode === 'throws' ? 'throw new Error("The vendor’s script has failed.");\n' : withCallChecks(vendor, file);
  return {
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store', ...corsHeaders },
    body,
  };
}

function reportRoutes(calls: Calls): Route[] {
  return [
    // Tests add a header to every request, for which browsers send a preflight request to another origin.
    { method: 'OPTIONS', path: /^\/./, handle: () => ({ status: 204, headers: corsHeaders }) },
    {
      method: 'POST',
      path: new RegExp(`^/reports/(${vendors.join('|')})$`),
      async handle({ request, groups: [vendor = ''], body }) {
        const { what, details } = JSON.parse(await body()) as { what: string; details: unknown };
        calls.add(readerOf(request), { vendor: vendor as Vendor, what, details });
        return { status: 204, headers: corsHeaders };
      },
    },
  ];
}

function testRoutes(calls: Calls): Route[] {
  const reader = (url: URL) => url.searchParams.get('reader') ?? 'anyone';
  return [
    { method: 'GET', path: /^\/api\/calls$/, handle: ({ url }) => json({ calls: calls.of(reader(url)) }) },
    {
      method: 'DELETE',
      path: /^\/api\/calls$/,
      handle({ url }) {
        calls.forget(reader(url));
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      path: /^\/api\/modes$/,
      async handle({ body }) {
        const requested = JSON.parse(await body()) as { reader?: string; vendor: Vendor; mode: Mode };
        if (!vendors.includes(requested.vendor) || !modes.includes(requested.mode))
          return json({ error: 'There is no such mode.' }, 400);
        calls.setMode(requested.reader ?? 'anyone', requested.vendor, requested.mode);
        return { status: 204 };
      },
    },
  ];
}
