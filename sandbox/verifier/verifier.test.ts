import { afterAll, beforeAll, expect, it } from 'vitest';
import { startVerifier, type Verifier } from './verifier.ts';

let verifier: Verifier;
beforeAll(async () => {
  verifier = await startVerifier();
});
afterAll(() => verifier.stop());

const ask = (email: string, init: RequestInit = {}) =>
  fetch(`${verifier.access.url}?email=${encodeURIComponent(email)}`, {
    headers: { authorization: `Bearer ${verifier.access.key}` },
    ...init,
  });

it.each([
  ['ada@example.com', 'deliverable', null],
  ['undeliverable.ada@example.com', 'undeliverable', null],
  ['Unknown@example.com', 'unknown', null],
  ['suggest-ada@exmaple.com', 'undeliverable', 'suggest-ada@example.com'],
])('%s is %s', async (email, result, suggestion) => {
  expect(await (await ask(email)).json()).toEqual({ email, result, suggestion });
});

it('keeps a connection for a minute, because a busy client would use one that is being closed', async () => {
  expect((await ask('ada@example.com')).headers.get('keep-alive')).toBe('timeout=60');
});

it('needs its key and an address', async () => {
  expect((await ask('ada@example.com', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
  expect((await ask('ada')).status).toBe(400);
});

it('is out of order, talks nonsense, or does not answer', async () => {
  expect((await ask('down@example.com')).status).toBe(503);
  await expect((await ask('garbled@example.com')).json()).rejects.toThrow();
  for (const email of ['slow@example.com', 'hang@example.com']) {
    await expect(ask(email, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/abort|time/i);
  }
});
