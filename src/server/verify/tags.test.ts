import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsentPlatform } from '../../lib/consent/platform.ts';
import { noThirdParties } from '../../lib/third-party/settings.ts';
import { runChecks } from './checks.ts';
import { isAllowed, tagsCheck } from './vendors.ts';

let container = '';
let type = 'text/javascript';
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': type });
  response.end(container);
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const check = async (hosts: readonly string[] = []) => {
  const tagManager = { container: 'GTM-ABCD', scriptUrl: `${origin}/gtm.js`, hosts };
  const lines = await runChecks(tagsCheck({ ...noThirdParties, tagManager }));
  return lines.find(({ outcome }) => outcome !== 'skipped');
};

describe('the check of third-party scripts', () => {
  it('loads the configured scripts, and lists the others as skipped', async () => {
    container = 'var a = 1;';
    type = 'text/javascript';
    expect(await check()).toMatchObject({ service: 'tags', outcome: 'ok' });
    const lines = await runChecks(tagsCheck(noThirdParties));
    expect(lines.map(({ outcome }) => outcome)).toEqual(lines.map(() => 'skipped'));
    expect(lines.length).toBeGreaterThan(4);
  });

  it('names the tag manager’s hosts that the policy blocks, and passes once they are allowed', async () => {
    type = 'text/javascript';
    container = 'load("https://pixel.example.net/p.js"); send("https://collect.example.org/c?")';
    const line = await check();
    expect(line).toMatchObject({ outcome: 'failed' });
    expect(line?.result).toContain('collect.example.org, pixel.example.net');
    expect(line?.remedy).toContain('TAG_HOSTS');
    expect(await check(['pixel.example.net', 'collect.example.org'])).toMatchObject({ outcome: 'ok' });
  });

  it('loads the consent platform and Churnkey, and names the hosts that the platform needs', async () => {
    type = 'text/javascript';
    container = 'load("https://cdn.choices.example/ui.js")';
    const platform = { scriptUrl: `${origin}/choice.js?id=1`, hosts: [] };
    const line = async (name: string, settings: ConsentPlatform = platform) => {
      const lines = await runChecks(tagsCheck(noThirdParties, settings, `${origin}/app.js`));
      return lines.find(({ asks }) => asks === `the script of ${name}`);
    };
    expect(await line('the consent platform')).toMatchObject({
      outcome: 'ok',
      result: expect.stringContaining('cdn.choices.example'),
    });
    const allowed = { ...platform, hosts: ['*.choices.example'] };
    expect((await line('the consent platform', allowed))?.result).toBe('1 kB of script');
    expect(await line('Churnkey')).toMatchObject({ outcome: 'ok', result: '1 kB of script' });
    type = 'text/html';
    for (const [name, setting] of [
      ['the consent platform', 'CONSENT_PLATFORM_URL'],
      ['Churnkey', 'CHURNKEY_APP_ID'],
    ] as const)
      expect(await line(name)).toMatchObject({ outcome: 'failed', remedy: expect.stringContaining(setting) });
  });

  it('fails when the address returns something other than a script', async () => {
    type = 'text/html';
    expect(await check()).toMatchObject({ outcome: 'failed', result: 'status 200, text/html' });
  });
});

describe('the sources of a content security policy', () => {
  it.each([
    ['https://a.example.com/x.js', ['https://a.example.com'], true],
    ['https://a.example.com/x.js', ['https://*.example.com'], true],
    ['https://example.com/x.js', ['https://*.example.com'], false],
    ['https://evilexample.com/x.js', ['https://*.example.com'], false],
    ['http://a.example.com/x.js', ['https://a.example.com'], false],
    ['http://127.0.0.1:4000/x.js', ['http://127.0.0.1:4000'], true],
    ['https://a.example.com/x.js', ["'self'", 'data:'], false],
  ] as const)('%s under %j is allowed: %s', (address, sources, allowed) => {
    expect(isAllowed(address, sources)).toBe(allowed);
  });
});
