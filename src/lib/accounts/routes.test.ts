import { expect, it } from 'vitest';
import { silent } from '../logging.ts';
import { requireReader } from './routes.server.ts';
import type { Session } from './service.ts';

const ada = { id: 's', userId: 'u', trackingId: 't', email: 'ada@example.com', emailVerified: true };

async function asked(session: () => Promise<Session | null>) {
  const url = new URL('https://paper.example/dashboard/account?state=saved');
  const page = {
    url,
    request: new Request(url),
    response: { headers: new Headers() },
    locals: {
      config: { siteUrl: url.origin },
      services: { log: silent, sessions: { session: async () => ({ session: await session(), cookies: ['a=b'] }) } },
    },
  };
  const reader = await requireReader(page as unknown as Parameters<typeof requireReader>[0]);
  // Such a page is loaded again when the reader signs out in another tab.
  expect('personal' in page.locals).toBe(!(reader instanceof Response));
  return reader instanceof Response ? reader.headers.get('location') : reader;
}

it('requireReader passes readers, redirects others to sign in, and says when the session cannot be read', async () => {
  expect(await asked(async () => ada)).toEqual(ada);
  const back = `return=${encodeURIComponent('/dashboard/account?state=saved')}`;
  expect(await asked(async () => null)).toBe(`/socialLogin?${back}`);
  expect(
    await asked(async () => {
      throw new Error('no database');
    }),
  ).toBe(`/socialLogin?problem=off&${back}`);
});
