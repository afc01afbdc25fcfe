import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { withIdempotencyKey } from './stripe.server.ts';

const failing = (statusCode: number) => {
  const error = new Stripe.errors.StripeAPIError({ message: 'no', type: 'api_error', statusCode } as never);
  return async ({ idempotencyKey }: { idempotencyKey: string }): Promise<never> => {
    keys.push(idempotencyKey);
    throw error;
  };
};
const keys: string[] = [];

it('an idempotency key is reused after a 402 response, and replaced after a 500 or 503', async () => {
  await expect(withIdempotencyKey('switch:1', failing(402))).rejects.toThrow('no');
  await expect(withIdempotencyKey('switch:1', failing(500))).rejects.toThrow('no');
  await expect(withIdempotencyKey('switch:1', failing(503))).rejects.toThrow('no');
  expect(await withIdempotencyKey('switch:1', async ({ idempotencyKey }) => idempotencyKey)).toBe('switch:1:2');
  expect(await withIdempotencyKey('switch:2', async ({ idempotencyKey }) => idempotencyKey)).toBe('switch:2');
  expect(keys).toEqual(['switch:1', 'switch:1', 'switch:1:1']);
});
