import { expect, it } from 'vitest';
import { userHash } from './routes.server.ts';

it('signs a customer as the vendor says: hex HMAC-SHA256 under its key', () => {
  expect(userHash('key', 'cus_1')).toMatch(/^[0-9a-f]{64}$/);
  expect(userHash('key', 'cus_1')).not.toBe(userHash('key', 'cus_2'));
  expect(userHash('key', 'The quick brown fox jumps over the lazy dog')).toBe(
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  );
});
