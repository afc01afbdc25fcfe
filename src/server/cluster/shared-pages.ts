/**
 * Rendered pages in PostgreSQL: the node that claims a page renders it, the others wait for its bytes. A page is valid for all nodes
 * while none of its tags has changed since the revision of the content that it shows.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../../lib/database.ts';
import { type Conditions, createConditions } from '../../lib/jobs/conditions.ts';
import { failAfter } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { PageShare, SharedPage, ShareTicket } from '../../press/scheduler/page-share.ts';
import {
  type Bodies,
  nameOf,
  type PageRef,
  type StoredEncoding,
  storedEncodings,
} from '../../press/store/stored-page.ts';
import { channel, databaseNow } from './channel.ts';
import { tagKind } from './content-log.ts';

export interface SharedPagesOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  /** Version of the content log, whose tags decide whether a page is valid. */
  readonly version: number;
  /** Pages are shared between nodes of the same build and settings, see `pagesName`. */
  readonly build: string;
  readonly node: string;
  readonly log: Logger;
  /** Revision of the content in this node's content store. */
  readonly revision: () => number;
  /** Whether the content store has applied withdrawals ahead of the log, so that its pages don't match its revision. */
  readonly isAhead?: () => boolean;
  /** The tag of every page. */
  readonly everything: string;
  /** Milliseconds: how long a node may take to render (default 4000), and how long PostgreSQL may take to answer (default 500). */
  readonly renderMs?: number;
  readonly answerMs?: number;
}

export interface SharedPages extends PageShare {
  /** Hands over a message from the channel: another node has rendered a page, or given up. */
  announced(name: string): void;
  /** Deletes pages of builds that no node has used for a day. @returns how many */
  prune(): Promise<number>;
  stats(): SharedPagesStats;
}

export interface SharedPagesStats {
  /** Pages rendered here for all nodes, and pages taken from other nodes. */
  readonly given: number;
  readonly taken: number;
  /** Pages rendered here because the other nodes couldn't be reached in time. */
  readonly alone: number;
}

interface Row {
  readonly got: boolean;
  readonly valid: boolean | null;
  /** Revision of the content that the page shows. */
  readonly revision: number | string | null;
  readonly page: string | null;
  readonly bodies: Buffer | null;
}

interface State extends Required<SharedPagesOptions> {
  /** Checked when another node announces a page, whose name is `announced` meanwhile. */
  readonly announcements: Conditions;
  announced: string | null;
  readonly counts: { given: number; taken: number; alone: number };
  /** After PostgreSQL didn't respond: until this time the node renders on its own. */
  pausedUntil: number;
}

const day = 24 * 60 * 60 * 1000;
/** Milliseconds without a query after PostgreSQL didn't respond. */
const pauseMs = 1000;
/** Asks again after this time, because a message may be lost with its connection. */
const askAgainMs = 250;
/** Milliseconds between two checks of this node's content store. */
const checkMs = 10;

export function createSharedPages(options: SharedPagesOptions): SharedPages {
  const state: State = {
    ...options,
    isAhead: options.isAhead ?? (() => false),
    renderMs: options.renderMs ?? 4000,
    answerMs: options.answerMs ?? 500,
    announcements: createConditions(),
    announced: null,
    counts: { given: 0, taken: 0, alone: 0 },
    pausedUntil: 0,
  };
  return {
    take: (ref) => take(state, ref),
    announced(name) {
      state.announced = name;
      state.announcements.check();
      state.announced = null;
    },
    async prune() {
      const { db, build } = state;
      const query = sql`delete from shared_pages where build <> ${build} and build not in
        (select build from shared_pages group by build having max(stored) > ${sql.raw(databaseNow)} - ${day})`;
      return Number((await query.execute(db)).numAffectedRows ?? 0);
    },
    stats: () => ({ ...state.counts }),
  };
}

const alone: ShareTicket = { shared: null, give() {} };

async function take(state: State, ref: PageRef): Promise<ShareTicket> {
  const began = performance.now();
  const name = nameOf(ref.key, ref.variant);
  if (began < state.pausedUntil || state.isAhead()) return renderAlone(state);
  try {
    for (;;) {
      const revision = state.revision();
      const woken = state.announcements.until(() => state.announced === name, askAgainMs);
      const row = await claimInTime(state, ref, revision);
      if (row.got) return { shared: null, give: (rendered) => void give(state, ref, revision, rendered) };
      const isNewer = Number(row.revision) > revision;
      if (row.valid && row.page !== null && !isNewer) {
        state.counts.taken++;
        return { shared: unpack(row.page, row.bodies), give() {} };
      }
      if (performance.now() - began > state.renderMs) return renderAlone(state);
      // The log keeps only the latest entry of a document. If a node used a page with newer content than its own, it might never have
      // stored a story that the page shows and that was withdrawn since, and couldn't tell that the page must be removed.
      await (row.valid && isNewer ? Promise.race([woken, whenApplied(state, Number(row.revision))]) : woken);
    }
  } catch (error) {
    state.pausedUntil = performance.now() + pauseMs;
    const problem = (error as Error).message;
    state.log.warn({ problem, forMs: pauseMs }, 'This node renders every page by itself for a moment');
    return renderAlone(state);
  }
}

function renderAlone({ counts }: State): ShareTicket {
  counts.alone++;
  return alone;
}

/** Resolves when the content store has a revision, at the latest after {@link askAgainMs}. */
async function whenApplied({ revision }: State, wanted: number): Promise<void> {
  const until = performance.now() + askAgainMs;
  while (revision() < wanted && performance.now() < until) await pause(checkMs, undefined, { ref: false });
}

/** A claim that comes too late is given back, so that the other nodes don't wait for a page that this one renders by itself. */
async function claimInTime(state: State, ref: PageRef, revision: number): Promise<Row> {
  const { answerMs } = state;
  const claiming = claim(state, ref, revision);
  try {
    return await failAfter(answerMs, claiming, `PostgreSQL took more than ${answerMs} ms`);
  } catch (error) {
    claiming.then(
      async ({ got }) => {
        if (got) await give(state, ref, revision, null);
      },
      () => {},
    );
    throw error;
  }
}

/**
 * Claims the page unless it is valid or another node renders it. A claim is replaced after it has expired, or if the page's content has
 * changed since; a node without the latest change of the page gets no claim, because its page would be outdated.
 */
async function claim(state: State, { key, variant }: PageRef, revision: number): Promise<Row> {
  const { db, version, build, node, renderMs, everything } = state;
  const now = sql.raw(databaseNow);
  const changedSince = (than: RawBuilder<unknown>) => sql`exists (select 1 from content_entries e
    where e.version = ${version} and e.kind = ${tagKind} and e.id = any(p.tags || ${everything}::text) and e.revision > ${than})`;
  const isOutdated = changedSince(sql`p.revision`);
  const answer = await sql<Row>`
    with claimed as (
      insert into shared_pages as p (build, key, variant, revision, claimed, claim, claim_ends, stored)
      values (${build}, ${key}, ${variant}, -1, ${revision}, ${node}, ${now} + ${renderMs}, ${now})
      on conflict (build, key, variant) do update
      set claimed = excluded.claimed, claim = excluded.claim, claim_ends = excluded.claim_ends
      where (p.claim is null or p.claim_ends < ${now} or (p.claimed < excluded.claimed and ${changedSince(sql`p.claimed`)}))
        and (p.page is null or (${isOutdated} and not ${changedSince(sql`excluded.claimed`)}))
      returning 1
    )
    select true as got, null as valid, null as revision, null as page, null as bodies from claimed
    union all
    select false, p.page is not null and not ${isOutdated}, p.revision, p.page, p.bodies from shared_pages p
    where p.build = ${build} and p.key = ${key} and p.variant = ${variant} and not exists (select 1 from claimed)`.execute(
    db,
  );
  return answer.rows[0] ?? { got: false, valid: null, revision: null, page: null, bodies: null };
}

async function give(state: State, ref: PageRef, revision: number, rendered: SharedPage | null): Promise<void> {
  const { db, build, node, counts, log } = state;
  const name = JSON.stringify({ page: nameOf(ref.key, ref.variant), build });
  const where = sql`build = ${build} and key = ${ref.key} and variant = ${ref.variant}`;
  try {
    if (rendered) {
      counts.given++;
      const { page, bodies } = pack(rendered);
      await sql`
        with put as (
          update shared_pages set revision = ${revision}, page = ${page}, tags = ${[...rendered.page.tags]}::text[],
            bodies = ${bodies}, stored = ${sql.raw(databaseNow)}, claim = case when claim = ${node} then null else claim end
          where ${where} and revision <= ${revision} returning 1
        )
        select pg_notify(${sql.raw(channel)}, ${name}) from put`.execute(db);
    } else {
      await sql`
        with gone as (delete from shared_pages where ${where} and claim = ${node} and page is null returning 1),
        kept as (update shared_pages set claim = null where ${where} and claim = ${node} and page is not null returning 1),
        put as (select 1 from gone union all select 1 from kept)
        select pg_notify(${sql.raw(channel)}, ${name}) from put`.execute(db);
    }
  } catch (error) {
    log.debug({ problem: (error as Error).message }, "A page couldn't be given to the other nodes; they render it");
  }
}

function pack({ page, bodies }: SharedPage): { page: string; bodies: Buffer } {
  const present = storedEncodings.filter((encoding) => bodies[encoding] !== undefined);
  const lengths = Object.fromEntries(present.map((encoding) => [encoding, bodies[encoding]?.byteLength]));
  const bytes = Buffer.concat(present.map((encoding) => bodies[encoding] ?? Buffer.alloc(0)));
  return { page: JSON.stringify({ page, lengths }), bodies: bytes };
}

function unpack(text: string, bytes: Buffer | null): SharedPage {
  const { page, lengths } = JSON.parse(text) as {
    page: SharedPage['page'];
    lengths: Partial<Record<StoredEncoding, number>>;
  };
  const bodies: { -readonly [Each in keyof Bodies]: Bodies[Each] } = {};
  let at = 0;
  for (const encoding of storedEncodings) {
    const length = lengths[encoding];
    if (length === undefined) continue;
    bodies[encoding] = (bytes ?? Buffer.alloc(0)).subarray(at, at + length);
    at += length;
  }
  return { page, bodies };
}
