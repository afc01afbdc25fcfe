import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { type CrawlersOptions, createCrawlers, readRanges } from './crawlers.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
const ranges = (...prefixes: object[]): string => JSON.stringify({ creationTime: '2026-11-20', prefixes });
function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'crawlers-'));
  folders.push(folder);
  writeFileSync(join(folder, 'list.json'), text);
  return join(folder, 'list.json');
}

function open(options: Partial<CrawlersOptions> = {}) {
  const names: Record<string, string[]> = {
    '66.249.66.1': ['crawl-66-249-66-1.googlebot.com'],
    '2001:4860:4801:10::1': ['crawl-ipv6.googlebot.com'],
    // The owner of an address may give it any name.
    '203.0.113.9': ['crawl-66-249-66-1.googlebot.com'],
    '203.0.113.10': ['googlebot.com.evil.example', 'evilgooglebot.com', 'googlebot.com'],
  };
  const hosts: Record<string, string[]> = {
    'crawl-66-249-66-1.googlebot.com': ['66.249.66.1'],
    'crawl-ipv6.googlebot.com': ['2001:4860:4801:10:0:0:0:1'],
    'googlebot.com.evil.example': ['203.0.113.10'],
    'evilgooglebot.com': ['203.0.113.10'],
    'googlebot.com': ['203.0.113.10'],
  };
  const dns = {
    reverse: vi.fn(async (address: string) => names[address] ?? Promise.reject(new Error('ENOTFOUND'))),
    lookup: vi.fn(async (host: string) => hosts[host] ?? Promise.reject(new Error('ENOTFOUND'))),
  };
  let clock = 0;
  const crawlers = createCrawlers({
    names: ['google', 'bing'],
    ranges: {},
    dns,
    log: silent,
    now: () => clock,
    ...options,
  });
  return {
    crawlers,
    dns,
    pass: (ms: number) => {
      clock += ms;
    },
  };
}

describe('crawlers', () => {
  it.each([
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'google'],
    ['Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)', 'bing'],
    // This tool shows everyone what it fetches.
    ['Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)', null],
    ['Mozilla/5.0 (Macintosh) AppleWebKit (Applebot/0.1)', null],
    ['Mozilla/5.0 (X11; Linux x64) Chrome/150', null],
    [undefined, null],
  ])('the user agent %s claims to be %s', (agent, name) => expect(open().crawlers.claims(agent)).toBe(name));

  it.each([
    ['66.249.66.1', true],
    ['::ffff:66.249.66.1', true],
    ['2001:4860:4801:10::1', true],
    ['203.0.113.9', false],
    ['203.0.113.10', false],
    ['192.0.2.1', false],
    ['unknown', false],
    ['', false],
  ])('%s is verified as Google by its DNS names: %s', async (address, verified) => {
    expect(await open().crawlers.verify('google', address)).toBe(verified);
  });

  it('are verified only as the engine they belong to, and only if that engine is configured', async () => {
    const { crawlers } = open();
    expect(await crawlers.verify('bing', '66.249.66.1')).toBe(false);
    expect(await crawlers.verify('apple', '66.249.66.1')).toBe(false);
  });

  it('are verified by a published list without a DNS query', async () => {
    const list = file(ranges({ ipv4Prefix: '192.178.4.0/27' }, { ipv6Prefix: '2001:db8:5::/64' }));
    const { crawlers, dns } = open({ ranges: { google: list } });
    expect(await crawlers.verify('google', '192.178.4.30')).toBe(true);
    expect(await crawlers.verify('google', '2001:db8:5::7')).toBe(true);
    expect(dns.reverse).not.toHaveBeenCalled();
    expect(await crawlers.verify('google', '192.178.4.32')).toBe(false);
    expect(await crawlers.verify('bing', '192.178.4.30')).toBe(false);
  });

  it('are verified once for many requests, and the result is remembered', async () => {
    const { crawlers, dns, pass } = open();
    await Promise.all(Array.from({ length: 10 }, () => crawlers.verify('google', '66.249.66.1')));
    await crawlers.verify('google', '66.249.66.1');
    expect(dns.reverse).toHaveBeenCalledTimes(1);
    await crawlers.verify('google', '192.0.2.1');
    await crawlers.verify('google', '192.0.2.1');
    expect(dns.reverse).toHaveBeenCalledTimes(2);
    pass(11 * 60_000);
    await crawlers.verify('google', '192.0.2.1');
    await crawlers.verify('google', '66.249.66.1');
    expect(dns.reverse).toHaveBeenCalledTimes(3);
  });

  it('are verified again on time after the clock was set back', async () => {
    const ahead = Date.now() + 86_400_000;
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: ahead });
    onTestFinished(() => void vi.useRealTimers());
    const { crawlers, dns } = open({ now: undefined });
    await crawlers.verify('google', '192.0.2.1');
    vi.setSystemTime(ahead - 86_400_000);
    vi.advanceTimersByTime(11 * 60_000);
    await crawlers.verify('google', '192.0.2.1');
    expect(dns.reverse).toHaveBeenCalledTimes(2);
  });

  it('of a published range are recognized while look-ups for impostors never end', async () => {
    const { crawlers, dns } = open({ ranges: { google: file(ranges({ ipv6Prefix: '2001:4860:4801:10::/64' })) } });
    dns.reverse.mockImplementation(() => new Promise(() => {}));
    for (let at = 0; at < 40; at++) void crawlers.verify('google', `203.0.113.${at}`);
    await vi.waitFor(() => expect(dns.reverse).toHaveBeenCalledTimes(20));
    expect(await crawlers.verify('google', '2001:4860:4801:10::7')).toBe(true);
  });

  it('of one IPv6 network cause two DNS queries at a time, so that others are still looked up', async () => {
    const { crawlers, dns } = open();
    const real = dns.reverse.getMockImplementation();
    dns.reverse.mockImplementation((address) =>
      address.startsWith('2001:db8') ? new Promise<never>(() => {}) : (real as typeof dns.reverse)(address),
    );
    for (let at = 0; at < 40; at++) void crawlers.verify('google', `2001:db8:1:${at}::1`);
    expect(await crawlers.verify('google', '66.249.66.1')).toBe(true);
    expect(dns.reverse).toHaveBeenCalledTimes(3);
  });

  it('cause at most 20 DNS queries when 200 addresses pretend to be one', async () => {
    const { crawlers, dns } = open();
    const addresses = Array.from({ length: 200 }, (_, at) => `198.51.100.${at}`);
    const answers = await Promise.all(addresses.map((address) => crawlers.verify('google', address)));
    expect(answers).not.toContain(true);
    expect(dns.reverse.mock.calls.length).toBeLessThanOrEqual(20);
  });

  it('are verified by the last good list while a new one cannot be fetched', async () => {
    let text: string | null = ranges({ ipv4Prefix: '192.178.4.0/27' });
    const fetched = vi.fn(async () => (text === null ? new Response('', { status: 500 }) : new Response(text)));
    const { crawlers, pass } = open({
      ranges: { google: 'https://lists.example/google.json' },
      fetch: fetched as typeof fetch,
    });
    expect(await crawlers.verify('google', '192.178.4.1')).toBe(true);
    text = null;
    pass(25 * 60 * 60_000);
    expect(await crawlers.verify('google', '192.178.4.2')).toBe(true);
    expect(fetched).toHaveBeenCalledTimes(2);
    text = ranges({ ipv4Prefix: '192.178.5.0/27' });
    pass(11 * 60_000);
    expect(await crawlers.verify('google', '192.178.5.1')).toBe(true);
    expect(await crawlers.verify('google', '192.178.4.3')).toBe(false);
  });

  it('are not verified by a list that cannot be read', async () => {
    for (const broken of ['', '{}', ranges({ ipv4Prefix: '0.0.0.0/0' }), '/no/such/file']) {
      const { crawlers } = open({ ranges: { google: broken.startsWith('/') ? broken : file(broken) } });
      expect(await crawlers.verify('google', '192.0.2.1'), broken).toBe(false);
    }
  });
});

describe('reading a published list of crawler addresses', () => {
  it.each([
    '[]',
    '{"prefixes":[]}',
    ranges({}),
    ranges({ ipv4Prefix: '10.0.0.0/7' }),
    ranges({ ipv6Prefix: '2000::/3' }),
    ranges({ ipv4Prefix: '1.2.3.4' }),
    ranges({ ipv4Prefix: '1.2.3.4/33' }),
  ])('refuses %s', (text) => expect(() => readRanges(text)).toThrow());
});
