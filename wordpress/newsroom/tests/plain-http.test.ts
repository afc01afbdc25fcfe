import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Newsroom, startNewsroom } from './harness.ts';

let newsroom: Newsroom;
beforeAll(async () => {
  newsroom = await startNewsroom('http://127.0.0.1:9', { WP_ENVIRONMENT_TYPE: 'production' });
});
afterAll(() => newsroom?.stop());

it('without HTTPS, WordPress accepts no application passwords, and its status reports the problem and the fix', async () => {
  const { status, json } = await newsroom.rest('/newsroom/v1/status', { as: 'site' });
  expect(status).toBe(200);
  expect(json).toMatchObject({ credentials: false, signed_in: false, signs_in: true });
  expect(json.problems).toEqual([
    { code: 'passwords-need-https', message: expect.stringMatching(/HTTPS.*WP_ENVIRONMENT_TYPE/) },
  ]);
});
