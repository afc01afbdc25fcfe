/** The publisher's Zephr tenant: whether its public API answers where `/blaize/*` is passed to. */
import { type Check, Trouble } from './checks.ts';
import { request } from './http.ts';

export function zephrCheck(url: string | null): Check {
  return {
    service: 'zephr',
    missing: url === null ? 'set ZEPHR_URL' : null,
    steps: [{ asks: 'GET /blaize/account without a session', run: () => ask(url ?? '') }],
  };
}

async function ask(url: string): Promise<string> {
  const { status } = await request(`${url}/blaize/account`, 'ZEPHR_URL');
  if (status === 401) return '401, as a tenant answers who is not signed in';
  throw new Trouble(
    `status ${status}`,
    "set ZEPHR_URL to the tenant's own CDN address, such as https://paper.cdn.zephr.com, with its public API switched on",
  );
}
