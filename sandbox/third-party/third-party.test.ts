import { afterAll, beforeAll, expect, it } from 'vitest';
import { startThirdParty, type ThirdParty } from './third-party.ts';

let vendors: ThirdParty;
beforeAll(async () => {
  vendors = await startThirdParty();
});
afterAll(() => vendors.stop());

const as = (reader: string) => ({ headers: { 'x-forwarded-for': reader } });
const get = (path: string, reader: string) => fetch(`${vendors.access.url}${path}`, as(reader));
const calls = async (reader: string) => {
  const answer = await fetch(`${vendors.access.url}/api/calls?reader=${reader}`);
  return ((await answer.json()) as { calls: { vendor: string; what: string }[] }).calls;
};
const mode = (reader: string, vendor: string, wanted: string) =>
  fetch(`${vendors.access.url}/api/modes`, { method: 'PUT', body: JSON.stringify({ reader, vendor, mode: wanted }) });

it('the third-party stand-ins serve each vendor’s script, and record calls separately for each reader', async () => {
  for (const path of [
    '/gtm/gtm.js?id=GTM-TEST',
    '/marfeel/marfeel-sdk.js?id=1234',
    '/onesignal/OneSignalSDK.page.js',
    '/onesignal/OneSignalSDK.sw.js',
    '/growsurf/growsurf.js',
    '/calendly/widget.js',
    '/gpt/gpt.js',
  ]) {
    const answer = await get(path, 'ann');
    expect(answer.headers.get('content-type'), path).toMatch(/^text\/javascript/);
    expect((await answer.text()).length, path).toBeGreaterThan(50);
  }
  const leave = await fetch(`${vendors.access.url}/reports/gpt`, { method: 'OPTIONS' });
  expect(leave.headers.get('access-control-allow-headers')).toBe('*');
  const body = JSON.stringify({ what: 'setUserType', details: 0 });
  await fetch(`${vendors.access.url}/reports/marfeel`, { method: 'POST', body, ...as('ann') });
  expect((await calls('ann')).map(({ vendor, what }) => `${vendor} ${what}`)).toEqual([
    ...['gtm', 'marfeel', 'onesignal', 'onesignal', 'growsurf', 'calendly', 'gpt'].map((vendor) => `${vendor} script`),
    'marfeel setUserType',
  ]);
  expect(await calls('bob')).toEqual([]);
});

it('the third-party stand-ins simulate vendor failures for one reader only', async () => {
  await mode('cat', 'gpt', 'error');
  expect((await get('/gpt/gpt.js', 'cat')).status).toBe(500);
  expect((await get('/gpt/gpt.js', 'dan')).status).toBe(200);
  await mode('cat', 'gpt', 'throws');
  expect(await (await get('/gpt/gpt.js', 'cat')).text()).toMatch(/^throw new Error/);
  await mode('cat', 'gpt', 'blocked');
  await expect(get('/gpt/gpt.js', 'cat')).rejects.toThrow();
  await mode('cat', 'gpt', 'slow');
  await expect(
    fetch(`${vendors.access.url}/gpt/gpt.js`, { ...as('cat'), signal: AbortSignal.timeout(50) }),
  ).rejects.toThrow();
  await mode('cat', 'gpt', 'empty');
  expect(await (await get('/gpt/ads?slot=/1/home-2', 'cat')).json()).toEqual({ empty: true });
  expect(await (await get('/gpt/ads?slot=/1/home-2', 'dan')).json()).toEqual({ empty: false });
  expect((await mode('cat', 'gpt', 'angry')).status).toBe(400);
});
