/**
 * `npm run bench:accounts [--readers 20000]`: sign-ins, reads of sessions and checks of access cookies a second, on SQLite and on
 * a real PostgreSQL on the same machine, both with commits that wait for the disk. Takes about a minute.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createAccounts } from '../src/lib/accounts/service.server.ts';
import type { Accounts, Caller } from '../src/lib/accounts/service.ts';
import { createHmacs } from '../src/lib/crypto.server.ts';
import type { AccountsTransaction, Database } from '../src/lib/database.ts';
import { createLimiter } from '../src/lib/http/limiter.server.ts';
import { defaultLimits, type LimitName, type Limits } from '../src/lib/http/limits.ts';
import { silent } from '../src/lib/logging.ts';
import type { Outbox } from '../src/lib/mail/model.ts';
import { openOutbox } from '../src/lib/mail/outbox.server.ts';
import { publisherAt } from '../src/lib/mail/publisher.ts';
import { createAccessCookie } from '../src/press/delivery/access-cookie.ts';
import { openDatabase } from '../src/server/database/open.ts';
import { startPostgres } from '../tests/world/postgres.ts';
import { count, percentile, printTable, wholeFlag } from './support/figures.ts';

const seconds = 3;
const signIns = 2000;
const callers = 16;
const siteUrl = 'https://paper.example';
const secret = 'a secret of the bench that is long enough';
const access = createAccessCookie({ name: 'access', keys: [{ id: 'bench', secret }] });
const caller: Caller = { address: '203.0.113.1', userAgent: null };

/** The limits are counted as in production, but are too high to refuse anyone. */
const limits = Object.fromEntries(
  (Object.keys(defaultLimits) as LimitName[]).map((name) => {
    const most = { most: 1_000_000_000, seconds: 600 };
    return [name, { address: most, ...(defaultLimits[name].email && { email: most }), overall: most }];
  }),
) as Limits;

interface Rate {
  readonly perSecond: number;
  /** Milliseconds of one call. */
  readonly p99: number;
}

/** Runs `work` for several callers at once, until it returns `false`. */
async function rate(work: (turn: number) => Promise<boolean>): Promise<Rate> {
  const times: number[] = [];
  let turn = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    for (;;) {
      const start = performance.now();
      if (!(await work(turn++))) return;
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, one));
  return { perSecond: (times.length / (performance.now() - began)) * 1000, p99: percentile(times, 0.99) };
}

/** Makes a `work` for {@link rate} that repeats for some time and lets the event loop run in between. */
function forSeconds(work: (turn: number) => Promise<void>): (turn: number) => Promise<boolean> {
  const until = performance.now() + seconds * 1000;
  return async (turn) => {
    if (performance.now() > until) return false;
    await work(turn);
    return true;
  };
}

/** Adds readers who are signed in already, as many as a newspaper has. */
async function fill(database: Database, readers: number): Promise<void> {
  const at = new Date().toISOString();
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  for (let from = 0; from < readers; from += 500) {
    const ids = Array.from({ length: Math.min(500, readers - from) }, (_, place) => `old-${from + place}`);
    await database.transaction(async (tx) => {
      await tx
        .insertInto('users')
        .values(
          ids.map((id) => ({
            id,
            name: '',
            email: `${id}@example.com`,
            emailVerified: 1,
            image: null,
            createdAt: at,
            updatedAt: at,
            trackingId: id,
          })),
        )
        .execute();
      await tx
        .insertInto('sessions')
        .values(
          ids.map((id) => ({
            id,
            userId: id,
            token: id,
            expiresAt,
            createdAt: at,
            updatedAt: at,
            ipAddress: '',
            userAgent: '',
          })),
        )
        .execute();
    });
  }
}

async function measure(database: Database, readers: number): Promise<readonly (readonly [string, Rate])[]> {
  await fill(database, readers);
  const paper = publisherAt(siteUrl);
  const real = openOutbox({ database, transport: null, paper, secret, log: silent });
  const tokens: string[] = [];
  const outbox: Outbox<AccountsTransaction> = {
    ...real,
    enqueue: (tx, message) => {
      if (message.kind === 'link') tokens.push(new URL(message.url).searchParams.get('token') ?? '');
      return real.enqueue(tx, message);
    },
  };
  const accounts: Accounts = await createAccounts({
    database,
    outbox,
    secret,
    siteUrl,
    access,
    limiter: createLimiter(database, createHmacs(secret), limits, Date.now),
    google: null,
    facebook: null,
    verification: null,
    log: silent,
  });
  const sent = await rate(async (turn) => {
    if (turn >= signIns) return false;
    const email = `reader-${turn}@example.com`;
    return (await accounts.sendLink({ email, purpose: 'register', redirect: '/', caller })).ok;
  });
  const cookieHeaders: string[] = [];
  const followNextLink = async (): Promise<boolean> => {
    const token = tokens.pop();
    if (token === undefined) return false;
    const used = await accounts.useLink(token, caller);
    if (!used.ok) throw new Error(used.failure.kind);
    cookieHeaders.push(used.value.cookies.map((cookie) => cookie.split(';', 1)[0]).join('; '));
    return true;
  };
  const joined = await rate(followNextLink);
  // The same readers sign in again, by a link to their existing account.
  await rate(async (turn) => {
    if (turn >= signIns) return false;
    return (await accounts.sendLink({ email: `reader-${turn}@example.com`, purpose: 'login', redirect: '/', caller }))
      .ok;
  });
  const entered = await rate(followNextLink);
  const read = await rate(
    forSeconds(async (turn) => {
      const { session } = await accounts.session(cookieHeaders[turn % cookieHeaders.length] ?? '');
      if (!session) throw new Error('a session was lost');
    }),
  );
  const checked = await rate(
    forSeconds(async (turn) => {
      // A thousand at a time: a single call is too short to time.
      for (let place = 0; place < 1000; place++) {
        if (!access.levelFor(cookieHeaders[(turn * 1000 + place) % cookieHeaders.length]))
          throw new Error('a cookie was refused');
      }
    }),
  );
  return [
    ['links sent', sent],
    ['sign-ups by link', joined],
    ['sign-ins by link', entered],
    ['session reads', read],
    ['access cookie checks', { perSecond: checked.perSecond * 1000, p99: checked.p99 / 1000 }],
  ];
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { readers: { type: 'string' } } });
  const readers = wholeFlag('readers', values.readers, 20_000);
  const folder = mkdtempSync(join(tmpdir(), 'accounts-bench-'));
  const cluster = await startPostgres({ durable: true });
  try {
    const rates = [];
    for (const databaseUrl of [null, await cluster.database()]) {
      const database = await openDatabase({ dataDir: folder, databaseUrl, log: silent });
      rates.push(await measure(database, readers));
      await database.close();
    }
    const [sqlite = [], postgres = []] = rates;
    const cells = ({ perSecond, p99 }: Rate): string[] => [
      count(Math.round(perSecond)),
      p99.toFixed(p99 < 0.1 ? 4 : 2),
    ];
    console.log(`${count(readers)} readers signed in already, ${callers} callers at once\n`);
    printTable([
      ['a second', 'SQLite', 'p99 ms', 'PostgreSQL', 'p99 ms'],
      ...sqlite.map(([name, figure], place) => [
        name,
        ...cells(figure),
        ...cells(postgres[place]?.[1] ?? { perSecond: Number.NaN, p99: Number.NaN }),
      ]),
    ]);
  } finally {
    await cluster.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
