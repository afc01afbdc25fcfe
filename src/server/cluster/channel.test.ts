import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { bodyOf, longestMessage, messageSchema, webhookOf } from './channel.ts';

const message = { from: 'node', id: 1, headers: { 'x-newsroom-delivery': 'one' }, version: 1 };

it.each([
  ['a short body as earlier builds read it', Buffer.from('{"id":1}'), true],
  ['a long body compressed', Buffer.from(JSON.stringify(Array(2000).fill('https://cms.example/a.jpg'))), false],
])('a message about a webhook has %s', (_, body, isPlain) => {
  const webhook = webhookOf(message, body);
  expect(JSON.stringify({ webhook }).length).toBeLessThanOrEqual(longestMessage);
  expect([webhook?.body !== undefined, webhook?.brotli !== undefined]).toEqual([isPlain, !isPlain]);
  const received = messageSchema.parse(JSON.parse(JSON.stringify({ webhook }))).webhook;
  expect(received && bodyOf(received)).toEqual(body);
});

it('there is no message about a webhook that is too long even when compressed', () => {
  expect(webhookOf(message, randomBytes(10_000))).toBeNull();
});
