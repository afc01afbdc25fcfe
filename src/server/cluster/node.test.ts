/** A node whose report to PostgreSQL is late, and one whose log was restored to an earlier state. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import { silent } from '../../lib/logging.ts';
import { databaseNow } from './channel.ts';
import { openContentLog } from './content-log.ts';
import { createClusterNode } from './node.ts';

const engines = prepare('postgres');
/** Long enough that a busy machine doesn't miss the time during which the node is connected. */
const goneMs = 2000;

type NodeOptions = Parameters<typeof createClusterNode>[0];

/** Creates a node that is never the writer, and does nothing by itself. */
const startNode = (options: Pick<NodeOptions, 'db' | 'contentLog' | 'follower'> & Partial<NodeOptions>) =>
  createClusterNode({
    id: randomUUID(),
    lease: { epoch: null } as never,
    listenUrl: '',
    version: 1,
    goneMs: 5000,
    log: silent,
    beatMs: 3_600_000,
    ...options,
  });

it('a node whose report was late counts as connected only after it has read the log once more', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const gates: PromiseWithResolvers<void>[] = [];
  let reads = 0;
  let isOpen = true;
  const node = startNode({
    db,
    goneMs,
    contentLog: {
      head: async () => ({ id: 'log', revision: 0 }),
      async read() {
        reads++;
        if (!isOpen) await gates[0]?.promise;
        return { revision: 0, entries: [] };
      },
    } as never,
    follower: { revision: () => 0, followLog() {}, apply: async () => {} },
    workersUpdated: async () => gates[1]?.promise,
  });
  try {
    await node.catchUp(5000);
    await expect.poll(() => node.isConnected).toBe(true);
    const counted = async (): Promise<unknown[]> =>
      (await sql`select id from cluster_nodes where seen > ${sql.raw(databaseNow)} - ${goneMs}`.execute(db)).rows;
    await expect.poll(counted).toEqual([]);
    await expect.poll(() => node.isConnected).toBe(false);
    gates.push(Promise.withResolvers(), Promise.withResolvers());
    await node.catchUp(5000);
    const before = reads;
    isOpen = false;
    gates[1]?.resolve();
    // The report has arrived, and the log is read once more; an earlier read doesn't count.
    await expect.poll(() => reads).toBe(before + 1);
    expect(node.isConnected).toBe(false);
    isOpen = true;
    gates[0]?.resolve();
    await expect.poll(() => node.isConnected).toBe(true);
  } finally {
    for (const gate of gates) gate.resolve();
    await node.stop();
  }
});

it('a node is behind while it can read the log but not store it, and not while PostgreSQL is down', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const disk = { isFull: true };
  const postgres = { isDown: false };
  const node = startNode({
    db,
    goneMs: 300,
    beatMs: 20,
    contentLog: {
      async head() {
        if (postgres.isDown) throw new Error('PostgreSQL is down');
        return { id: 'log', revision: 1 };
      },
      read: async (after: number) => ({ revision: 1, entries: after === 0 ? [{}] : [] }),
    } as never,
    follower: {
      revision: () => (disk.isFull ? 0 : 1),
      followLog() {},
      apply() {
        if (disk.isFull) throw new Error('No space left on the disk');
        return Promise.resolve();
      },
    },
  });
  try {
    await setTimeout(600);
    expect([node.isBehind, node.cutOffMs]).toEqual([true, null]);
    disk.isFull = false;
    await expect.poll(() => node.isBehind).toBe(false);
    postgres.isDown = true;
    await expect.poll(() => node.cutOffMs).not.toBeNull();
    expect([node.isBehind, node.isConnected]).toEqual([false, false]);
  } finally {
    await node.stop();
  }
});

it('a node isn’t behind while reads of the log are slow and there is nothing new', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  let reads = 0;
  const node = startNode({
    db,
    goneMs: 300,
    beatMs: 20,
    contentLog: {
      head: async () => ({ id: 'log', revision: 0 }),
      async read() {
        await setTimeout(250);
        reads++;
        return { revision: 0, entries: [] };
      },
    } as never,
    follower: { revision: () => 0, followLog() {}, apply: async () => {} },
  });
  try {
    await expect.poll(() => reads).toBeGreaterThan(0);
    const seen = new Set<boolean>();
    while (reads < 4) {
      seen.add(node.isBehind);
      await setTimeout(10);
    }
    expect([...seen]).toEqual([false]);
  } finally {
    await node.stop();
  }
});

it('a node isn’t waited for while it copies the archive', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const applied = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let revision = 0;
  const node = startNode({
    db,
    contentLog: {
      head: async () => ({ id: 'log', revision: 2 }),
      async read(after: number) {
        if (after === 1) await gate.promise;
        return { revision: 2, entries: after === 2 ? [] : [{}] };
      },
    } as never,
    follower: {
      revision: () => revision,
      followLog() {},
      async apply() {
        revision++;
        applied.resolve();
      },
    },
  });
  try {
    const copied = node.catchUp(60_000);
    await applied.promise;
    const others = async () => (await sql`select applied from cluster_nodes`.execute(db)).rows;
    // Longer than a report takes.
    await sql`select pg_sleep(0.2)`.execute(db);
    expect(await others()).toEqual([]);
    gate.resolve();
    await copied;
    await expect.poll(others).toEqual([{ applied: 2 }]);
    await expect.poll(() => node.isConnected).toBe(true);
  } finally {
    gate.resolve();
    await node.stop();
  }
});

it('a failed statement doesn’t end the wait for all nodes', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const node = startNode({
    db,
    contentLog: {
      head: async () => ({ id: 'log', revision: 1 }),
      read: async () => ({ revision: 1, entries: [] }),
    } as never,
    follower: { revision: () => 1, followLog() {}, apply: async () => {} },
  });
  try {
    await node.catchUp(5000);
    await expect.poll(() => node.isConnected).toBe(true);
    await sql`alter table cluster_nodes rename to away`.execute(db);
    expect(await node.waitForAllNodes('fresh', 1, 50)).toBe(false);
    const all = node.waitForAllNodes('fresh', 1, 60_000);
    await sql`select pg_sleep(0.1)`.execute(db);
    await sql`alter table away rename to cluster_nodes`.execute(db);
    expect(await all).toBe(true);
  } finally {
    await node.stop();
  }
});

it('a node that stops while it is reporting leaves no report behind', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const gate = Promise.withResolvers<void>();
  const reporting = Promise.withResolvers<void>();
  const node = startNode({
    db,
    contentLog: {
      head: async () => ({ id: 'log', revision: 0 }),
      read: async () => ({ revision: 0, entries: [] }),
    } as never,
    follower: { revision: () => 0, followLog() {}, apply: async () => {} },
    workersUpdated() {
      reporting.resolve();
      return gate.promise;
    },
  });
  await node.catchUp(5000);
  await reporting.promise;
  const stopping = node.stop();
  // Later than the stop's own statement, if that doesn't wait for the report.
  await sql`select pg_sleep(0.2)`.execute(db);
  gate.resolve();
  await stopping;
  await sql`select pg_sleep(0.2)`.execute(db);
  expect((await sql`select id from cluster_nodes`.execute(db)).rows).toEqual([]);
});

it('a node copies the content again when PostgreSQL was restored to an earlier state', async () => {
  const { db } = await engines.open(await engines.migratedPlace());
  const contentLog = openContentLog({ db, version: 1 });
  const append = (id: number) => contentLog.append([{ kind: 'document', id: String(id), payload: '{}' }], null);
  let store = { log: '', revision: 0, ids: [] as string[] };
  const node = startNode({
    db,
    contentLog,
    follower: {
      revision: () => store.revision,
      followLog(log) {
        if (store.log !== log) store = { log, revision: 0, ids: [] };
      },
      async apply({ revision, entries }) {
        store = { ...store, revision, ids: [...store.ids, ...entries.map(({ id }) => id)] };
      },
    },
  });
  try {
    for (const id of [1, 2, 3]) await append(id);
    await node.catchUp(5000);
    expect(store).toMatchObject({ revision: 3, ids: ['1', '2', '3'] });
    // As it was after the first append.
    await sql`delete from content_entries where revision > 1`.execute(db);
    await sql`update content_log set revision = 1`.execute(db);
    await append(4);
    await node.catchUp(5000);
    expect(store).toMatchObject({ revision: 2, ids: ['1', '4'] });
    // Only once: the other nodes, which have read equally far, find the new id.
    const { log } = store;
    await append(5);
    await node.catchUp(5000);
    expect(store).toMatchObject({ log, revision: 3, ids: ['1', '4', '5'] });
  } finally {
    await node.stop();
  }
});
