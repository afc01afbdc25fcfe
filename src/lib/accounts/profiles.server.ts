/** Readers' profiles, plain and extended (vendors.md 1.6). */
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import type { Audit } from './dependencies.server.ts';
import { accountMessages } from './messages.ts';
import { appProblem, extendedText, fits, mostApps, profileProblem } from './profile.ts';
import type { Outcome, Profile, Session } from './service.ts';
import type { Users } from './users.server.ts';

export interface Profiles {
  read(db: Queries, userId: string): Promise<Profile>;
  /** Adds to a profile what was checked already; what does not fit any more is left out. */
  add(tx: AccountsTransaction, userId: string, profile: Profile): Promise<void>;
  save(session: Session, profile: Profile, how: 'merge' | 'replace'): Promise<Outcome<null>>;
  /** `null` when the app has none. */
  readExtended(session: Session, app: string): Promise<unknown>;
  saveExtended(session: Session, app: string, value: unknown): Promise<Outcome<null>>;
  allExtended(userId: string): Promise<Readonly<Record<string, unknown>>>;
}

const invalid = (message: string): Outcome<never> => ({ ok: false, failure: { kind: 'invalid', message } });
const done: Outcome<null> = { ok: true, value: null };

/** @param now epoch milliseconds */
export function createProfiles(database: Database, users: Users, audit: Audit, now: () => number): Profiles {
  async function read(db: Queries, userId: string): Promise<Profile> {
    const row = await db.selectFrom('profiles').select('data').where('user_id', '=', userId).executeTakeFirst();
    return row ? (JSON.parse(row.data) as Profile) : {};
  }

  async function write(tx: AccountsTransaction, userId: string, profile: Profile): Promise<void> {
    const values = { data: JSON.stringify(profile), updated: now() };
    await tx
      .insertInto('profiles')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
      .execute();
  }

  /** Once a minute is enough to know that somebody was there: a reader must not be able to fill the trail. */
  async function note(tx: AccountsTransaction, userId: string, detail?: string): Promise<void> {
    const recent = await tx
      .selectFrom('audit')
      .select('id')
      .where('user_id', '=', userId)
      .where('event', '=', 'profile changed')
      .where('at', '>', now() - 60_000)
      .where('detail', 'is not distinct from', detail ?? null)
      .executeTakeFirst();
    if (!recent) await audit(tx, { event: 'profile changed', userId, detail });
  }

  return {
    read,
    async add(tx, userId, profile) {
      if (Object.keys(profile).length === 0) return;
      const merged = { ...(await read(tx, userId)), ...profile };
      if (fits(merged)) await write(tx, userId, merged);
    },
    async save(session, profile, how) {
      const problem = profileProblem(profile);
      if (problem) return invalid(problem);
      return database.transaction(async (tx) => {
        // Held, so that of two merges at once none undoes the other.
        if (!(await users.lock(tx, session.userId))) return invalid(accountMessages.accountGone);
        const next = how === 'merge' ? { ...(await read(tx, session.userId)), ...profile } : profile;
        if (!fits(next)) return invalid('Too many profile fields');
        await write(tx, session.userId, next);
        await note(tx, session.userId);
        return done;
      });
    },
    async readExtended(session, app) {
      const row = await database.db
        .selectFrom('extended_profiles')
        .select('data')
        .where('user_id', '=', session.userId)
        .where('app', '=', app)
        .executeTakeFirst();
      return row ? (JSON.parse(row.data) as unknown) : null;
    },
    async saveExtended(session, app, value) {
      const problem = appProblem(app);
      if (problem) return invalid(problem);
      const made = extendedText(value);
      if ('problem' in made) return invalid(made.problem);
      return database.transaction(async (tx) => {
        if (!(await users.lock(tx, session.userId))) return invalid(accountMessages.accountGone);
        const others = await tx
          .selectFrom('extended_profiles')
          .select('app')
          .where('user_id', '=', session.userId)
          .where('app', '<>', app)
          .execute();
        if (others.length >= mostApps) return invalid('Too many apps');
        const values = { data: made.text, updated: now() };
        await tx
          .insertInto('extended_profiles')
          .values({ user_id: session.userId, app, ...values })
          .onConflict((conflict) => conflict.columns(['user_id', 'app']).doUpdateSet(values))
          .execute();
        await note(tx, session.userId, 'extended');
        return done;
      });
    },
    async allExtended(userId) {
      const rows = await database.db
        .selectFrom('extended_profiles')
        .select(['app', 'data'])
        .where('user_id', '=', userId)
        .execute();
      return Object.fromEntries(rows.map((row) => [row.app, JSON.parse(row.data) as unknown]));
    },
  };
}
