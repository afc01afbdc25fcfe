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
])('the email verifier stand-in reports %s as %s', async (email, result, suggestion) => {
  expect(await (await ask(email)).json()).toEqual({ email, result, suggestion });
});

it('the email verifier stand-in keeps connections alive for 60 seconds', async () => {
  expect((await ask('ada@example.com')).headers.get('keep-alive')).toBe('timeout=60');
});

it('the email verifier stand-in requires its key and a valid address', async () => {
  expect((await ask('ada@example.com', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
  expect((await ask('ada')).status).toBe(400);
});

it('the email verifier stand-in can answer 503, answer invalid JSON, or hang', async () => {
  expect((await ask('down@example.com')).status).toBe(503);
  await expect((await ask('garbled@example.com')).json()).rejects.toThrow();
  for (const email of ['slow@example.com', 'hang@example.com']) {
    await expect(ask(email, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/abort|time/i);
  }
});
