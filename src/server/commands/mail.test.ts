import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { asText, readMessageId } from '../../../scripts/support.ts';
import { limiterOf } from '../../../tests/world/limiter.ts';
import { silent } from '../../lib/logging.ts';
import { parseConfig } from '../config/config.ts';
import { openDatabase } from '../database/open.ts';
import { openReaders } from '../readers.ts';
import { listHeld, releaseMessage } from './mail.ts';

const fields = { name: 'Ada Whitlock', email: 'ada@example.com', phone: '2125550183', message: 'Where is\nmy paper?' };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'held-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

async function withReaders<T>(
  env: Record<string, string>,
  work: (of: NonNullable<Awaited<ReturnType<typeof openReaders>>>) => T,
) {
  const verification = { verify: async () => ({ verified: true, suggestedEmail: null, message: '' }) };
  const config = parseConfig(env);
  const database = await openDatabase({ dataDir: config.dataDir, databaseUrl: null, log: silent });
  const readers = await openReaders(config, { database, limiter: limiterOf(database), verification, log: silent });
  if (!readers) throw new Error('Accounts are off.');
  try {
    return await work(readers);
  } finally {
    await readers.stop();
    await database.close();
  }
}

it('the support command lists held messages, and releases one to the mail queue', async () => {
  const env = {
    DATA_DIR: dir,
    LOG_LEVEL: 'error',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'The Sun <news@example.com>',
  };
  await withReaders(env, ({ services: { support } }) =>
    support.take(fields, {
      caller: { address: '203.0.113.1', userAgent: null },
      session: null,
      honeypot: 'x',
      stamp: '',
    }),
  );
  const [held, ...more] = await listHeld(env);
  if (!held) throw new Error('Nothing is held.');
  expect(more).toEqual([]);
  expect(asText(held)).toMatch(
    /^[\da-f-]{36} {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC {2}filled in a hidden field\n {2}Ada Whitlock <ada@example.com> 2125550183\n {2}\| Where is\n {2}\| my paper\?$/,
  );
  expect(await releaseMessage(env, readMessageId(['release', held.id]) ?? '')).toBe(true);
  expect(await releaseMessage(env, held.id)).toBe(false);
  expect(await listHeld(env)).toEqual([]);
  expect(await withReaders(env, ({ outbox }) => outbox.waiting())).toMatchObject({ count: 1 });
});

it('the support command explains its usage, and names the missing setting', async () => {
  expect(readMessageId([])).toBeNull();
  for (const args of [['list'], ['release'], ['release', 'x'], ['release', 'a'.repeat(36), 'b']]) {
    expect(() => readMessageId(args), args.join(' ')).toThrow('npm run support -- release');
  }
  await expect(listHeld({ DATA_DIR: dir, LOG_LEVEL: 'error' })).rejects.toThrow('SMTP_URL');
});
