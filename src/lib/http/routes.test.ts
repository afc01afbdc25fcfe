import type { APIContext } from 'astro';
import { expect, it } from 'vitest';
import { silent } from '../logging.ts';
import { common } from './messages.ts';
import { getRoute } from './routes.server.ts';

it('a JSON route that fails answers 503 with the general message', async () => {
  const url = new URL('https://paper.example/api/v1/comments');
  const locals = { config: { siteUrl: url.origin }, services: { log: silent } };
  const context = { url, request: new Request(url), locals } as unknown as APIContext;
  const answer = (await getRoute(() => Promise.reject(new Error('no database')))(context)) as Response;
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
  expect(await answer.json()).toEqual({ message: common.wrong, retryAfter: 10 });
});
