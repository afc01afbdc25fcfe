/** The comments service with accounts, over the wire of a WordPress in memory. */

import type { Session } from '../../src/lib/accounts/service.ts';
import { createModeration } from '../../src/lib/comments/moderation.server.ts';
import { createComments } from '../../src/lib/comments/service.server.ts';
import type { CommentOutcome, CommentRules, Draft } from '../../src/lib/comments/service.ts';
import { type Logger, silent } from '../../src/lib/logging.ts';
import { moderationStandIn } from '../fixtures/comment-moderation.ts';
import { fakeWordPress } from '../fixtures/wordpress.ts';
import { caller, fixture } from './accounts.ts';
import type { Engines } from './databases.ts';

const usual: CommentRules = {
  level: 'registered',
  longest: 100,
  editMinutes: 5,
  reportsToHold: 2,
  showWaitingDays: 14,
};

export function value<T>(outcome: CommentOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(JSON.stringify(outcome.failure));
}
export const failure = <T>(outcome: CommentOutcome<T>): unknown => (outcome.ok ? 'none' : outcome.failure.kind);

/** @returns a function that opens the service on a new database of an engine */
export const commentsOn =
  (engines: Engines) =>
  async (rules: Partial<CommentRules> = {}, reserved: readonly string[] = [], log: Logger = silent) => {
    const database = await engines.open();
    const own = await fixture(database);
    const moderation = moderationStandIn(fakeWordPress());
    const paying = new Set<string>();
    /** Delays requests to WordPress. */
    const slow: { wait: (() => Promise<void>) | null } = { wait: null };
    const way: typeof fetch = async (...asked) => {
      await slow.wait?.();
      return moderation.fetch(...asked);
    };
    const comments = createComments({
      database,
      limiter: own.limiter,
      log,
      rules: { ...usual, ...rules },
      now: () => own.clock.now,
      accounts: own.accounts,
      moderation: createModeration({ url: 'https://moderation.example', user: 'site', password: 'x', fetch: way }),
      isSubscriber: async ({ userId }) => paying.has(userId),
      reservedNames: () => reserved,
    });
    const { session } = await own.join('ada@example.com');
    const draft = (more: Partial<Draft> = {}): Draft => ({
      place: { articleId: 7, open: true, parentId: 0 },
      content: 'Well said.',
      name: 'Ada Lovelace',
      ...more,
    });
    const post = (more: Partial<Draft> = {}, who: Session = session) => comments.post(who, draft(more), caller());
    const mine = async (who: Session = session) =>
      comments.mine(who, 7, (id) => moderation.all().some((each) => each.id === id && each.status === 'approved'));
    return { ...own, database, comments, moderation, session, post, mine, paying, slow };
  };
