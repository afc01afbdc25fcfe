import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Push, startPush } from './push.ts';

let push: Push;
beforeAll(async () => {
  push = await startPush();
});
afterAll(() => push.stop());

const message = (part: object = {}) => ({
  app_id: push.access.appId,
  included_segments: ['Total Subscriptions'],
  contents: { en: 'News' },
  idempotency_key: crypto.randomUUID(),
  ...part,
});
const send = (body: unknown, authorization = `Key ${push.access.key}`) =>
  fetch(`${push.access.url}/notifications`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

it('the push stand-in sends a message once per idempotency key, and marks the repeated answer', async () => {
  const body = message();
  const [first, second] = [await send(body), await send(body)];
  const [{ id }, again] = [await first.json(), await second.json()];
  expect([first.status, first.headers.get('idempotent-replayed'), id]).toEqual([
    200,
    null,
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  ]);
  expect([second.headers.get('idempotent-replayed'), again.id]).toEqual(['true', id]);
  const sent = (await (await fetch(`${push.access.url}/sent`)).json()) as { idempotency_key: string }[];
  expect(sent.filter((each) => each.idempotency_key === body.idempotency_key)).toHaveLength(1);
});

it.each([
  ['another app’s ID', { app_id: 'x' }],
  ['blank text', { contents: { en: ' ' } }],
  ['no text in any language', { contents: {} }],
  ['no segment', { included_segments: [] }],
  ['an unknown segment', { included_segments: ['Everyone'] }],
  ['an idempotency key that isn’t a UUID', { idempotency_key: 'alert-1' }],
  ['an idempotency key that is a version 7 UUID', { idempotency_key: '01890a5d-ac96-774b-bcce-b302099a8057' }],
  ['a javascript: link', { web_url: 'javascript:alert(1)' }],
  ['a time to live over the limit', { ttl: 2_419_201 }],
  ['a misspelled field', { idempotencyKey: 'x' }],
])('the push stand-in refuses a message with %s', async (_what, part) => {
  const answer = await send(message(part));
  expect([answer.status, (await answer.json()).errors]).toEqual([400, [expect.any(String)]]);
});

it('the push stand-in refuses a wrong key with 403, for messages and for the list of segments', async () => {
  expect((await send(message(), 'Key x')).status).toBe(403);
  expect((await send(message(), `Basic ${push.access.key}`)).status).toBe(403);
  const list = (key: string) =>
    fetch(`${push.access.url}/apps/${push.access.appId}/segments`, { headers: { authorization: `Key ${key}` } });
  expect((await list('x')).status).toBe(403);
  expect((await (await list(push.access.key)).json()).segments[0].name).toBe('Total Subscriptions');
});
