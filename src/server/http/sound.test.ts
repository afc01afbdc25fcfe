import { IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { silent } from '../../lib/logging.ts';
import type { Exchange, ServerState } from './server-options.ts';
import { answerSound } from './sound.ts';

/** A request for a sound, and what it is answered. */
function asked(content: object) {
  const state = {
    counts: { errors: 0 },
    addressOf: () => '203.0.113.1',
    options: {
      log: silent,
      locals: () => ({ content, services: { limiter: { count: async () => null } } }),
      pages: { access: { levelFor: () => null } },
      renewAccess: () => Promise.reject(new Error('The database is away.')),
      security: { always: {}, other: '' },
      editionReady: () => true,
    },
  } as unknown as ServerState;
  const given = { status: 0, headers: {} as OutgoingHttpHeaders, text: '' };
  const outgoing = {
    headersSent: false,
    writeHead: (status: number, headers: OutgoingHttpHeaders) => Object.assign(given, { status, headers }),
    end: (body?: Buffer) => Object.assign(given, { text: String(body ?? '') }),
  };
  const exchange = { incoming: new IncomingMessage(new Socket()), outgoing } as unknown as Exchange;
  return { state, exchange, given };
}

it('a listener of a free story is sent to its public file, and holds no connection of the site', async () => {
  const content = { audio: () => ({ url: 'https://files.example/1.mp3', slug: 'story', access: 'free' }) };
  const { state, exchange, given } = asked(content);
  expect(await answerSound(state, exchange, new URL('https://paper.example/sound/7/1.mp3'))).toBe(true);
  expect(given).toMatchObject({ status: 302, headers: { location: 'https://files.example/1.mp3' } });
});

it('a listener whose access can’t be looked up is asked to try again', async () => {
  const content = { audio: () => ({ url: 'https://files.example/1.mp3', slug: 'story', access: 'subscriber' }) };
  const { state, exchange, given } = asked(content);
  expect(await answerSound(state, exchange, new URL('https://paper.example/sound/7/1.mp3'))).toBe(true);
  expect(given).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    text: 'We couldn’t check your access. Try again in a moment.\n',
  });
});
