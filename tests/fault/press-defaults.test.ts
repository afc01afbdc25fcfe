/** The built site without an operators' token and without access keys, and with a poll each second. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, operatorToken, type Paper, startPaper, story, until } from '../fixtures/paper.ts';

let paper: Paper;
beforeAll(async () => {
  paper = await startPaper({ OPERATOR_TOKEN: '', ACCESS_KEYS: '', SYNC_POLL_SECONDS: '1' });
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(() => paper?.close());

it('without a token, the operators’ page, the metrics and CSP reports answer 404', async () => {
  const bearer = { headers: { authorization: `Bearer ${operatorToken}` } };
  expect((await paper.ask('/-/press', bearer)).status).toBe(404);
  expect((await paper.ask('/metrics', bearer)).status).toBe(404);
  // Without a token no operator could read reports: the site requests none and accepts none.
  expect((await paper.ask('/', {})).headers['reporting-endpoints']).toBeUndefined();
  const report = { method: 'POST', body: '[]', headers: { 'content-type': 'application/reports+json' } };
  expect((await paper.ask('/-/csp-reports', report)).status).toBe(404);
});

it('the site keeps the access key that it generated, in a file that only its user can read', async () => {
  const file = join(paper.folder, 'access-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [id = '', secret = ''] = readFileSync(file, 'utf8').trim().split(':');
  const expires = Date.now() / 1000 + 3600;
  const own = createAccessCookie({ name: 'access', keys: [{ id, secret }] }).sign('subscriber', expires);
  const foreign = createAccessCookie({ name: 'access', keys: [accessKey] }).sign('subscriber', expires);
  const ending = async (cookie: string) =>
    (await paper.ask('/article/story-9', { headers: { cookie: `access=${cookie}` } })).text.includes('ENDING-9');
  expect(await ending(own)).toBe(true);
  expect(await ending(foreign)).toBe(false);
  await paper.kill('SIGTERM');
  await paper.start();
  expect(await ending(own)).toBe(true);
});

it('a scheduled story appears on the front page when the poll finds it', async () => {
  const at = new Date(Date.now() - 1000).toISOString().slice(0, 19);
  // WordPress publishes it by its clock, without a modification or a webhook.
  paper.wordpress.put(
    'articles',
    story(20, { date_gmt: at, modified_gmt: '2026-11-01T00:00:00', title: { rendered: 'On time' } }),
  );
  await until(async () => (await paper.ask('/')).text.includes('On time'), paper.output);
  const home = await paper.ask('/');
  expect(home.headers['server-timing']).toBe('press;desc="hit"');
  expect((await paper.ask('/article/story-20')).status).toBe(200);
});
