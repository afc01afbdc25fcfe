/**
 * What is still to be asked of Stripe. A hundred events about one subscription are one question; a question whose process died is
 * taken over; one that fails is asked again, later and later.
 */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Database, Queries } from '../../database.ts';
import { backOff } from '../../jobs/retry.ts';

export interface Question {
  readonly subject: string;
  readonly causes: number;
  readonly tries: number;
  readonly claim: string;
}

export interface Questions {
  /** In the caller's transaction, or by itself. @param after milliseconds to wait first */
  ask(db: Queries | AccountsTransaction, subject: string, after?: number): Promise<void>;
  /** Takes what is due, the longest waiting first; nobody else has it until the lease ends. */
  take(most: number): Promise<readonly Question[]>;
  /** It was answered; what was caused meanwhile is due at once. */
  answered(question: Question): Promise<void>;
  /** It could not be answered now. */
  failed(question: Question): Promise<void>;
  /** When the next is due, epoch milliseconds; `null`: nothing waits. */
  next(): Promise<number | null>;
  count(): Promise<number>;
}

/** Longer than asking may take. */
const leaseMs = 120_000;
const waits = [1000, 5 * 60_000] as const;

export function createQuestions(database: Database, now: () => number): Questions {
  const { db, engine } = database;
  return {
    async ask(queries, subject, after = 0) {
      const due = now() + after;
      await queries
        .insertInto('stripe_questions')
        .values({ subject, causes: 1, due, tries: 0, claim: null })
        .onConflict((conflict) =>
          conflict.column('subject').doUpdateSet((is) => ({
            causes: is('stripe_questions.causes', '+', 1),
            // Whoever is asking just now looks at the causes afterwards. What failed before is tried at once: something has happened.
            due: is
              .case()
              .when('stripe_questions.claim', 'is not', null)
              .then(is.ref('stripe_questions.due'))
              .when('stripe_questions.due', '<', due)
              .then(is.ref('stripe_questions.due'))
              .else(due)
              .end(),
          })),
        )
        .execute();
    },
    async take(most) {
      const claim = randomUUID();
      const at = now();
      const rows = await db
        .with('picked', (from) =>
          from
            .selectFrom('stripe_questions')
            .select('subject')
            .where('due', '<=', at)
            .orderBy('due')
            .limit(most)
            .$if(engine === 'postgres', (those) => those.forUpdate().skipLocked()),
        )
        .updateTable('stripe_questions')
        .set((is) => ({ claim, due: at + leaseMs, tries: is('tries', '+', 1) }))
        .where('subject', 'in', (from) => from.selectFrom('picked').select('subject'))
        .where('due', '<=', at)
        .returning(['subject', 'causes', 'tries'])
        .execute();
      return rows.map((row) => ({ ...row, claim }));
    },
    async answered({ subject, causes, claim }) {
      await database.transaction(async (tx) => {
        const mine = (is: string) =>
          tx.deleteFrom('stripe_questions').where('subject', '=', subject).where('claim', '=', is);
        const { numDeletedRows } = await mine(claim).where('causes', '=', causes).executeTakeFirst();
        if (numDeletedRows > 0n) return;
        await tx
          .updateTable('stripe_questions')
          .set({ claim: null, due: now(), tries: 0 })
          .where('subject', '=', subject)
          .where('claim', '=', claim)
          .execute();
      });
    },
    async failed({ subject, tries, claim }) {
      await db
        .updateTable('stripe_questions')
        .set({ claim: null, due: now() + backOff(Math.min(tries, 20), ...waits) })
        .where('subject', '=', subject)
        .where('claim', '=', claim)
        .execute();
    },
    async next() {
      const row = await db
        .selectFrom('stripe_questions')
        .select((is) => is.fn.min('due').as('due'))
        .executeTakeFirst();
      return row?.due === null || row?.due === undefined ? null : Number(row.due);
    },
    async count() {
      const row = await db
        .selectFrom('stripe_questions')
        .select((is) => is.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },
  };
}
