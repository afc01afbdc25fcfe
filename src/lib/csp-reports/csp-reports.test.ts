import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CspReports, createCspReports, readReport } from './collector.server.ts';

const siteUrl = 'https://paper.example';
const legacy = (fields: object = {}) => ({
  'csp-report': {
    'document-uri': `${siteUrl}/article/a-story?gift=secret`,
    referrer: 'https://mail.example/inbox?ann',
    'violated-directive': 'script-src-elem',
    'effective-directive': 'script-src-elem',
    'blocked-uri': 'https://tags.example.com/a.js?reader=ann%40example.com',
    'script-sample': 'alert("ann@example.com")',
    disposition: 'enforce',
    ...fields,
  },
});
/** The Reporting API's format (W3C Reporting, `application/reports+json`). */
const modern = (body: object = {}) => ({
  age: 10,
  type: 'csp-violation',
  url: `${siteUrl}/`,
  body: { documentURL: `${siteUrl}/`, effectiveDirective: 'img-src', blockedURL: 'inline', ...body },
});

describe('a CSP report', () => {
  it('is reduced to directive, blocked origin and kind of page, in both formats', () => {
    expect(readReport(legacy(), siteUrl)).toEqual({
      directive: 'script-src-elem',
      blocked: 'https://tags.example.com',
      page: '/article',
    });
    expect(readReport(modern(), siteUrl)).toEqual({ directive: 'img-src', blocked: 'inline', page: '/' });
    const data = { 'blocked-uri': 'data', 'document-uri': `${siteUrl}/${'x'.repeat(99)}/b` };
    expect(readReport(legacy(data), siteUrl)).toMatchObject({ blocked: 'data:', page: '/…' });
  });

  it.each([
    ['about another site', legacy({ 'document-uri': 'https://evil.example/' })],
    ['about a browser extension’s resource', legacy({ 'blocked-uri': 'chrome-extension://abc/x.js' })],
    ['about a browser extension’s script', legacy({ 'source-file': 'moz-extension://abc' })],
    ['with a directive that does not exist', legacy({ 'effective-directive': '<script>' })],
    ['without the URL of the blocked resource', legacy({ 'blocked-uri': 'tags.example.com' })],
    ['of another type', { type: 'deprecation', body: modern().body }],
    ['with a URL that is too long', legacy({ 'blocked-uri': `https://a.example/${'x'.repeat(5000)}` })],
    ['that is null', null],
    ['that is a list', [legacy()]],
  ])('%s is ignored', (_, report) => {
    expect(readReport(report, siteUrl)).toBeNull();
  });
});

describe('the collector of CSP reports', () => {
  let reports: CspReports;
  let server: Server;
  let port: number;
  let now: number;
  beforeEach(async () => {
    now = Date.parse('2026-11-20T12:00:00Z');
    const windows = new Map<string, number>();
    const admit = async (address: string) => {
      const window = `${address} ${Math.floor(now / 60_000)}`;
      windows.set(window, (windows.get(window) ?? 0) + 1);
      return (windows.get(window) ?? 0) > 5 ? 60 : null;
    };
    reports = createCspReports({ siteUrl, admit, now: () => now });
    server = createServer(async (incoming, outgoing) => {
      const { status, retryAfter } = await reports.receive(incoming, String(incoming.headers['x-from'] ?? '192.0.2.1'));
      if (retryAfter !== undefined) outgoing.setHeader('retry-after', retryAfter);
      outgoing.writeHead(status, { connection: 'close' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())));

  /** Sends a body in chunks, without a Content-Length header. */
  const send = (body: string, type = 'application/csp-report', from = '192.0.2.1', length?: number) =>
    new Promise<number>((resolve, reject) => {
      const headers: Record<string, string | number> = { 'content-type': type, 'x-from': from };
      if (length !== undefined) headers['content-length'] = length;
      const asking = request({ port, host: '127.0.0.1', method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asking.on('error', reject);
      asking.write(body);
      if (length === undefined) asking.end();
    });

  it('groups equal reports and stores nothing about a reader', async () => {
    expect(await send(JSON.stringify(legacy()))).toBe(204);
    now += 1000;
    expect(await send(JSON.stringify(legacy({ 'document-uri': `${siteUrl}/section/politics` })))).toBe(204);
    expect(await send(JSON.stringify([modern(), modern()]), 'application/reports+json; charset=utf-8')).toBe(204);
    expect(reports.list()).toEqual([
      {
        directive: 'script-src-elem',
        blocked: 'https://tags.example.com',
        page: '/section',
        count: 2,
        first: now - 1000,
        last: now,
      },
      { directive: 'img-src', blocked: 'inline', page: '/', count: 2, first: now, last: now },
    ]);
    expect(JSON.stringify(reports.list())).not.toMatch(/ann|secret|a-story|alert|mail\.example/);
    expect(reports.stats()).toEqual({ noted: 4, refused: 0, kinds: 2 });
  });

  it('refuses other types, malformed or long bodies, and too many reports (415, 400, 413, 429)', async () => {
    expect(await send('{}', 'text/plain')).toBe(415);
    // Names of members that every object has aren't types, either.
    for (const type of ['constructor', '__proto__']) expect(await send('{}', type)).toBe(415);
    // Refused because of its length, before anything is read.
    expect(await send('{', 'application/csp-report', '192.0.2.1', 1_000_000)).toBe(413);
    expect(await send('{"a":', 'application/csp-report')).toBe(400);
    expect(await send(`"${'x'.repeat(40_000)}"`)).toBe(413);
    expect(await send('[', 'application/reports+json')).toBe(400);
    for (let time = 0; time < 2; time++) expect(await send(JSON.stringify(legacy()))).toBe(204);
    expect(await send(JSON.stringify(legacy()))).toBe(429);
    expect(await send(JSON.stringify(legacy()), 'application/csp-report', '198.51.100.1')).toBe(204);
    now += 60_000;
    expect(await send(JSON.stringify(legacy()))).toBe(204);
    expect(reports.list()).toHaveLength(1);
    expect(reports.stats().refused).toBe(8);
  });

  it('accepts a long batch from the Reporting API, and counts at most 100 reports of it', async () => {
    const originalPolicy = 'x'.repeat(2500);
    const batch = Array.from({ length: 60 }, (_, at) =>
      modern({ blockedURL: `https://h${at}.example/`, originalPolicy }),
    );
    const text = JSON.stringify(batch);
    expect(await send(text, 'application/csp-report')).toBe(413);
    expect(await send(text, 'application/reports+json')).toBe(204);
    expect(reports.stats().kinds).toBe(60);
    expect(await send(`"${'x'.repeat(300_000)}"`, 'application/reports+json')).toBe(413);
    const many = Array.from({ length: 150 }, () => modern());
    expect(await send(JSON.stringify(many), 'application/reports+json')).toBe(204);
    expect(reports.list()[0]).toMatchObject({ blocked: 'inline', count: 100 });
  });

  it('keeps at most 200 kinds: made-up sources replace each other, but not frequent ones', async () => {
    for (let time = 0; time < 3; time++) await send(JSON.stringify(legacy()), undefined, `198.51.100.${time}`);
    for (let batch = 0; batch < 30; batch++) {
      const made = Array.from({ length: 20 }, (_, at) =>
        modern({ blockedURL: `https://h${batch * 20 + at}.example/` }),
      );
      expect(await send(JSON.stringify(made), 'application/reports+json', `203.0.113.${batch}`)).toBe(204);
    }
    expect(reports.stats()).toMatchObject({ noted: 603, kinds: 200 });
    expect(reports.list()[0]).toMatchObject({ blocked: 'https://tags.example.com', count: 3 });
    now += 8 * 24 * 60 * 60_000;
    expect(reports.list()).toEqual([]);
  });
});
