/** A serving worker on its own, with a folder without files as its build. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nameOf } from '../../press/store/stored-page.ts';
import { html, press } from '../../press/testing.ts';
import { socketsFolder } from './inner-socket.ts';
import type { FromServing, Opening } from './messages.ts';
import { type ServingWorker, startServingWorker } from './serving-worker.ts';

let folder: string;
let worker: ServingWorker;
let sent: FromServing[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'worker-'));
  const dataDir = join(folder, 'data');
  mkdirSync(join(folder, 'client'));
  mkdirSync(socketsFolder(dataDir), { recursive: true });
  sent = [];
  const env = { DATA_DIR: dataDir, SITE_URL: 'http://127.0.0.1:4321', LOG_LEVEL: 'silent' };
  worker = startServingWorker(env, `${folder}/`, (message) => void sent.push(message));
});
afterEach(() => rmSync(folder, { recursive: true }));

const opening = (): Opening => ({
  kind: 'open',
  socket: join(folder, 'writer.sock'),
  file: join(folder, 'pages.sqlite'),
  build: 'one',
  isReady: true,
  isStored: true,
  banner: null,
  live: [],
});

it('finishes its connections when it stops, even if the writer has gone', async () => {
  worker.receive(opening());
  const server = await worker.server;
  worker.receive({ kind: 'writer-gone' });
  expect(server.listening).toBe(true);
  await worker.stop();
  expect(server.listening).toBe(false);
});

it('passes on its counts of reads before it forgets every page', async () => {
  const writer = press(folder, { render: async () => html('the latest') });
  await writer.press.get('/latest', 'public');
  worker.receive(opening());
  const socketPath = String((await worker.server).address());
  const asked = request({ socketPath, path: '/latest' }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  worker.receive({ kind: 'replaced', number: 1, names: 'all', isReady: true, isStored: true });
  expect(sent).toContainEqual({ kind: 'reads', reads: [[nameOf('/latest', 'public'), 1]] });
  await worker.stop();
  await writer.close();
});
