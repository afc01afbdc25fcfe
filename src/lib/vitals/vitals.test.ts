/** What browsers measure: accepted only from the site's own pages and within limits. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVitals } from './collector.server.ts';
import { type VitalsReport, vitalsPageOf } from './model.ts';

const siteUrl = 'https://paper.example';
const good: VitalsReport = {
  page: 'article',
  device: 'phone',
  values: { lcp: 1.25, inp: 0.08, cls: 0, ttfb: 0.12 },
};

function request(body: string, headers: Record<string, string> = {}): IncomingMessage {
  const incoming = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage;
  incoming.headers = { origin: siteUrl, 'content-type': 'text/plain;charset=UTF-8', ...headers };
  return incoming;
}

function collector(admit: () => Promise<number | null> = async () => null) {
  const notes: VitalsReport[] = [];
  const vitals = createVitals({ siteUrl, admit, note: (report) => notes.push(report) });
  const send = (body: string, headers?: Record<string, string>) =>
    vitals.receive(request(body, headers), '203.0.113.9');
  return { vitals, notes, send };
}

describe('browsers’ performance measurements', () => {
  it('are recorded when complete or partial', async () => {
    const { vitals, notes, send } = collector();
    expect(await send(JSON.stringify(good))).toEqual({ status: 204 });
    const less = { page: 'other', device: 'desktop', values: { cls: 0.4 } };
    expect(await send(JSON.stringify(less))).toEqual({ status: 204 });
    expect(notes).toEqual([good, less]);
    expect(vitals.stats()).toEqual({ noted: 2, refused: 0 });
  });

  it.each([
    ['another site’s origin', 403, JSON.stringify(good), { origin: 'https://elsewhere.example' }],
    ['no origin', 403, JSON.stringify(good), { origin: '' }],
    ['another content type', 415, JSON.stringify(good), { 'content-type': 'application/json' }],
    ['a Content-Length over the limit', 413, JSON.stringify(good), { 'content-length': '513' }],
    ['a body over the limit', 413, JSON.stringify(good) + ' '.repeat(512), {}],
    ['a body that is not JSON', 400, 'lcp=1', {}],
    ['an unknown page', 400, JSON.stringify({ ...good, page: '/gift/token' }), {}],
    ['an unknown device', 400, JSON.stringify({ ...good, device: 'Pixel 9' }), {}],
    ['an unknown field', 400, JSON.stringify({ ...good, user: 'ann' }), {}],
    ['an unknown metric', 400, JSON.stringify({ ...good, values: { fid: 1 } }), {}],
    ['no values', 400, JSON.stringify({ ...good, values: {} }), {}],
    ['a negative value', 400, JSON.stringify({ ...good, values: { lcp: -1 } }), {}],
    ['an implausibly high value', 400, JSON.stringify({ ...good, values: { lcp: 61 } }), {}],
    ['a value that is not a number', 400, '{"page":"home","device":"phone","values":{"lcp":"1"}}', {}],
    ['a value too large for a number', 400, '{"page":"home","device":"phone","values":{"lcp":1e999}}', {}],
  ])('with %s are refused with %i', async (_what, status, body, headers) => {
    const { vitals, notes, send } = collector();
    expect(await send(body, headers)).toEqual({ status });
    expect(notes).toEqual([]);
    expect(vitals.stats()).toEqual({ noted: 0, refused: 1 });
  });

  it('are refused with 429 and a waiting time when the address is over its limit', async () => {
    const { notes, send } = collector(async () => 30);
    expect(await send(JSON.stringify(good))).toEqual({ status: 429, retryAfter: 30 });
    expect(notes).toEqual([]);
  });

  it('never cause an exception, whatever the body contains', async () => {
    const { send } = collector();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (body) => {
        expect([204, 400, 413]).toContain((await send(body)).status);
      }),
    );
  });
});

it('the measured kind of page comes only from the first segment of its path', () => {
  expect(['/', '/article/a-story', '/section/politics', '/gift/secret', '/articles'].map(vitalsPageOf)).toEqual([
    'home',
    'article',
    'section',
    'other',
    'other',
  ]);
});
