/** Outside services: DNS, and the external verification service, which is the sandbox's over HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startVerifier, type Verifier } from '../../../sandbox/verifier/verifier.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { limiterOf } from '../../../tests/world/limiter.ts';
import { defaultLimits } from '../http/limits.ts';
import { type Logger, silent } from '../logging.ts';
import { createExternalCheck, createMailDomainCheck, type Dns, type ExternalOptions } from './external.server.ts';
import { createEmailVerification } from './verification.server.ts';

const failing = (code: string) => Object.assign(new Error(code), { code });
const never = () => new Promise<never>(() => {});
const limiter = { count: async () => null };
const mx = (exchange: string) => [{ exchange, priority: 10 }];

/** DNS that knows these domains; all others don't exist. */
function dnsOf(zone: Record<string, { mx?: string | 'none' | Error; address?: boolean }>) {
  const asked: string[] = [];
  const dns = {
    async resolveMx(domain: string) {
      asked.push(domain);
      const entry = zone[domain];
      if (!entry) throw failing('ENOTFOUND');
      if (entry.mx instanceof Error) throw entry.mx;
      if (entry.mx === undefined) throw failing('ENODATA');
      return mx(entry.mx === 'none' ? '' : entry.mx);
    },
    async resolve4(domain: string) {
      if (zone[domain]?.address) return ['203.0.113.7'];
      throw failing('ENODATA');
    },
    async resolve6() {
      throw failing('ENODATA');
    },
  } as unknown as Dns;
  return { dns, asked };
}
/** Sets the machine's clock a day ahead. @returns a function that corrects it */
function startAhead(): () => void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 86_400_000 });
  return () => vi.setSystemTime(Date.now() - 86_400_000);
}
afterEach(() => void vi.useRealTimers());
const google = { 'gmail.com': { mx: 'mx.google.example' } };

describe('the check of a mail domain', () => {
  it.each([
    ['has mail servers', { mx: 'mx.sun.example' }, 'takes-mail'],
    ['has only an IP address', { address: true }, 'takes-mail'],
    ['has neither mail servers nor an IP address', {}, 'takes-none'],
    ['declares that it takes no mail (RFC 7505)', { mx: 'none' }, 'takes-none'],
    ['does not exist', undefined, 'takes-none'],
    ['cannot be looked up', { mx: failing('ESERVFAIL') }, 'unknown'],
    ['cannot be looked up in time', { mx: failing('ETIMEOUT') }, 'unknown'],
  ])('gives the right result when the domain %s', async (_, entry, expected) => {
    const { dns } = dnsOf({ ...google, ...(entry && { 'sun.example': entry }) });
    expect(await createMailDomainCheck({ dns })('sun.example')).toBe(expected);
  });

  it('is unknown when the DNS resolver finds no domain at all', async () => {
    const { dns } = dnsOf({});
    expect(await createMailDomainCheck({ dns })('sun.example')).toBe('unknown');
  });

  it('is unknown when DNS does not answer in time', async () => {
    const dns = { resolveMx: never, resolve4: never, resolve6: never } as unknown as Dns;
    expect(await createMailDomainCheck({ dns, timeoutMs: 20 })('sun.example')).toBe('unknown');
  });

  it('asks DNS once an hour, even for simultaneous checks', async () => {
    let now = 0;
    const { dns, asked } = dnsOf({ ...google, 'sun.example': { mx: 'mx.sun.example' } });
    const check = createMailDomainCheck({ dns, now: () => now });
    await Promise.all([check('sun.example'), check('sun.example'), check('sun.example')]);
    expect(asked).toEqual(['sun.example']);
    now += 3_600_001;
    await check('sun.example');
    expect(asked).toEqual(['sun.example', 'sun.example']);
  });

  it('expires on time even after the clock was set back', async () => {
    const setRight = startAhead();
    const zone: Record<string, object> = { ...google };
    const check = createMailDomainCheck({ dns: dnsOf(zone).dns });
    expect(await check('sun.example')).toBe('takes-none');
    zone['sun.example'] = { mx: 'mx.sun.example' };
    setRight();
    expect(await check('sun.example')).toBe('takes-none');
    vi.advanceTimersByTime(300_001);
    expect(await check('sun.example')).toBe('takes-mail');
  });
});

describe('an external verifier', () => {
  let verifier: Verifier;
  beforeAll(async () => {
    verifier = await startVerifier();
  });
  afterAll(() => verifier.stop());
  const check = (change: Partial<ExternalOptions> = {}) =>
    createExternalCheck({ vendor: 'plain', ...verifier.access, log: silent, limiter, timeoutMs: 20_000, ...change });

  it('returns the service’s result and suggestion', async () => {
    const ask = check();
    expect(await ask('ada@example.com')).toEqual({ result: 'deliverable', suggestion: null });
    expect(await ask('undeliverable@example.com')).toEqual({ result: 'undeliverable', suggestion: null });
    expect(await ask('suggest@exmaple.com')).toEqual({ result: 'undeliverable', suggestion: 'suggest@example.com' });
  });

  it.each(['down@example.com', 'garbled@example.com', 'hang@example.com'])('returns unknown for %s', async (email) => {
    expect((await check({ timeoutMs: 100 })(email)).result).toBe('unknown');
  });

  it('supports Kickbox, whose doubtful results become unknown', async () => {
    const url = verifier.access.url.replace('/v1/', '/v2/');
    const ask = check({ vendor: 'kickbox', url });
    expect(await ask('ada@example.com')).toEqual({ result: 'deliverable', suggestion: null });
    expect(await ask('undeliverable@example.com')).toEqual({ result: 'undeliverable', suggestion: null });
    expect(await ask('suggest@exmaple.com')).toEqual({ result: 'undeliverable', suggestion: 'suggest@example.com' });
    for (const email of ['risky@example.com', 'unknown@example.com', 'garbled@example.com', 'down@example.com'])
      expect((await ask(email)).result, email).toBe('unknown');
    const wrong = check({ vendor: 'kickbox', url, key: 'wrong' });
    expect((await wrong('undeliverable@example.com')).result).toBe('unknown');
  });

  it('returns unknown with the wrong key or when the service is down', async () => {
    expect((await check({ key: 'wrong' })('undeliverable@example.com')).result).toBe('unknown');
    expect((await check({ url: 'http://127.0.0.1:9/' })('undeliverable@example.com')).result).toBe('unknown');
  });

  it('is paused for 30 seconds after five failures, which are logged once without an address', async () => {
    let now = 1_000_000;
    const said: unknown[] = [];
    const log: Logger = { ...silent, warn: (...one) => void said.push(one), info: (...one) => void said.push(one) };
    const ask = check({ now: () => now, log });
    for (let time = 0; time < 5; time++) await ask('down.ada@example.com');
    expect(said).toEqual([[{ problem: 'it answers 503' }, expect.stringContaining('not asked for a while')]]);
    // The service would answer otherwise if it were asked.
    expect((await ask('undeliverable@example.com')).result).toBe('unknown');
    now += 30_001;
    expect((await ask('down@example.com')).result).toBe('unknown');
    expect((await ask('undeliverable@example.com')).result).toBe('unknown');
    now += 30_001;
    expect((await ask('undeliverable@example.com')).result).toBe('undeliverable');
    expect((await ask('undeliverable@example.com')).result).toBe('undeliverable');
    expect(said).toHaveLength(2);
    expect(JSON.stringify(said)).not.toContain('ada');
  });

  it('is tried again on time after the clock was set back', async () => {
    const setRight = startAhead();
    const ask = check();
    for (let time = 0; time < 5; time++) await ask('down@example.com');
    setRight();
    expect((await ask('undeliverable@example.com')).result).toBe('unknown');
    vi.advanceTimersByTime(30_001);
    expect((await ask('undeliverable@example.com')).result).toBe('undeliverable');
  });
});

it('Kickbox gets less time for the mailbox’s server than its own answer has', async () => {
  const ask = vi.fn(async (url: URL, _: RequestInit) => Response.json({ success: true, result: 'unknown', url }));
  vi.stubGlobal('fetch', ask);
  onTestFinished(() => void vi.unstubAllGlobals());
  const check = createExternalCheck({
    vendor: 'kickbox',
    url: 'https://kickbox.example/',
    key: 'k',
    log: silent,
    limiter,
  });
  expect(await check('ada@example.com')).toEqual({ result: 'unknown', suggestion: null });
  expect(ask.mock.calls[0]?.[0].searchParams.get('timeout')).toBe('1500');
});

onBothEngines('calls of the external service', (engines) => {
  const askedTimes = () => {
    const ask = vi.fn(async () => Response.json({ result: 'undeliverable', suggestion: null }));
    vi.stubGlobal('fetch', ask);
    onTestFinished(() => void vi.unstubAllGlobals());
    return ask;
  };
  const settings = { vendor: 'plain', url: 'https://verifier.example/', key: 'k', log: silent } as const;

  it('have a limit for all callers together, over which addresses count as verified', async () => {
    const most = 20;
    const verifier = { ...defaultLimits.verifier, overall: { most, seconds: 600 } };
    const limiter = limiterOf(await engines.open(), { ...defaultLimits, verifier });
    const ask = askedTimes();
    const { verify } = createEmailVerification({
      mailDomain: null,
      external: createExternalCheck({ ...settings, limiter }),
    });
    for (let i = 0; i < most; i++) expect((await verify(`reader-${i}@sun.example`)).verified).toBe(false);
    expect((await verify('one-more@sun.example')).verified).toBe(true);
    expect(ask).toHaveBeenCalledTimes(most);
    expect(defaultLimits.verifier.overall).toEqual({ most: 1000, seconds: 600 });
  });

  it('are one for an address that is checked again within ten minutes', async () => {
    const ask = askedTimes();
    let now = 0;
    const check = createExternalCheck({ ...settings, limiter, now: () => now });
    for (let time = 0; time < 3; time++) expect((await check('ada@sun.example')).result).toBe('undeliverable');
    expect(ask).toHaveBeenCalledOnce();
    now += 600_001;
    await check('ada@sun.example');
    expect(ask).toHaveBeenCalledTimes(2);
  });
});
