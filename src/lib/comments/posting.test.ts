/**
 * Posting and changing one's own comments on both engines: one reader's next to another's, and WordPress's answers out of order.
 */
import { expect, it } from 'vitest';
import { moderationStandIn } from '../../../tests/fixtures/comment-moderation.ts';
import { fakeWordPress, restError } from '../../../tests/fixtures/wordpress.ts';
import { caller, elsewhere, fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { Session } from '../accounts/service.ts';
import { defaultLimits } from '../http/limits.ts';
import { silent } from '../logging.ts';
import { createModeration } from './moderation.server.ts';
import { createComments } from './service.server.ts';
import type { CommentOutcome, CommentRules, Draft } from './service.ts';

const usual: CommentRules = {
  level: 'registered',
  longest: 100,
  editMinutes: 5,
  reportsToHold: 2,
  showWaitingDays: 14,
};
const kindOf = <T>(outcome: CommentOutcome<T>): string => (outcome.ok ? 'done' : outcome.failure.kind);

onBothEngines('the comment service', (engines) => {
  async function open(rules: Partial<CommentRules> = {}) {
    const database = await engines.open();
    const own = await fixture(database);
    const moderation = moderationStandIn(fakeWordPress());
    const paying = new Set<string>();
    /** Delays requests to WordPress. */
    const slow: { wait: (() => Promise<void>) | null } = { wait: null };
    const comments = createComments({
      database,
      limiter: own.limiter,
      log: silent,
      rules: { ...usual, ...rules },
      now: () => own.clock.now,
      accounts: own.accounts,
      moderation: createModeration({
        url: 'https://moderation.example',
        user: 'site',
        password: 'x',
        fetch: async (...asked) => {
          await slow.wait?.();
          return moderation.fetch(...asked);
        },
      }),
      isSubscriber: async ({ userId }) => paying.has(userId),
    });
    const ada = (await own.join('ada@example.com')).session;
    const ben = (await own.join('ben@example.com')).session;
    const post = (who: Session, name: string, more: Partial<Draft> = {}, articleId = 7, parentId = 0) =>
      comments.post(
        who,
        { place: { articleId, open: true, parentId }, content: 'Well said.', name, ...more },
        caller(),
      );
    const mine = (who: Session, articleId = 7) => comments.mine(who, articleId, () => false);
    const inWordPress = () => moderation.all().map(({ author_name, post, parent }) => [author_name, post, parent]);
    return { ...own, database, comments, moderation, paying, slow, ada, ben, post, mine, inWordPress };
  }

  it('accepts the same words from another reader, in another thread, and under another story', async () => {
    const { post, ada, ben, inWordPress, mine } = await open();
    expect(kindOf(await post(ada, 'Ada'))).toBe('done');
    expect(kindOf(await post(ben, 'Ben'))).toBe('done');
    expect(kindOf(await post(ada, 'Ada', {}, 7, 3))).toBe('done');
    expect(kindOf(await post(ada, 'Ada', {}, 8))).toBe('done');
    // The same with draft ids, as the page's script sends them.
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }, 9))).toBe('done');
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-two' }, 9, 3))).toBe('done');
    expect(kindOf(await post(ben, 'Ben', { draft: 'draft-ben' }, 9))).toBe('done');
    expect(inWordPress()).toEqual([
      ['Ada', 7, 0],
      ['Ben', 7, 0],
      ['Ada', 7, 3],
      ['Ada', 8, 0],
      ['Ada', 9, 0],
      ['Ada', 9, 3],
      ['Ben', 9, 0],
    ]);
    expect((await mine(ada, 8)).comments).toHaveLength(1);
  });

  it('sends both comments when two readers retry the same words after a failure', async () => {
    const { post, ada, ben, moderation, inWordPress, mine } = await open();
    moderation.trouble = 'down';
    expect([kindOf(await post(ada, 'Ada')), kindOf(await post(ben, 'Ben'))]).toEqual(['unavailable', 'unavailable']);
    moderation.trouble = 'none';
    expect([kindOf(await post(ben, 'Ben')), kindOf(await post(ada, 'Ada'))]).toEqual(['done', 'done']);
    expect(inWordPress()).toEqual([
      ['Ben', 7, 0],
      ['Ada', 7, 0],
    ]);
    expect((await mine(ada)).comments.map(({ author }) => author)).toEqual(['Ada']);
  });

  it('reports busy while another request sends the same draft, and sends it only once', async () => {
    const { post, ada, moderation, slow } = await open();
    const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    slow.wait = () => {
      arrived.resolve();
      return answered.promise;
    };
    const first = post(ada, 'Ada', { draft: 'draft-one' });
    await arrived.promise;
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('busy');
    answered.resolve();
    expect(kindOf(await first)).toBe('done');
    expect(moderation.asked).toEqual(['POST /wp/v2/comments']);
  });

  it('can be repeated at once after WordPress was busy', async () => {
    const { post, ada, moderation } = await open();
    moderation.trouble = () => restError(409, 'newsroom_busy');
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('busy');
    moderation.trouble = 'none';
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('done');
  });

  it('keeps no row for a comment that WordPress refused, so that the reader can try again', async () => {
    const { post, ada, moderation, database } = await open();
    moderation.trouble = () => restError(403, 'rest_comment_closed');
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('closed');
    expect(await database.db.selectFrom('comment_posts').select('id').execute()).toEqual([]);
    moderation.trouble = 'none';
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('done');
  });

  it('shows a comment as waiting when WordPress reports a duplicate that it cannot find', async () => {
    const { post, ada, moderation, mine } = await open();
    moderation.trouble = 'lost';
    await post(ada, 'Ada', { draft: 'draft-one' });
    moderation.trouble = () =>
      moderation.asked.at(-1)?.startsWith('GET')
        ? restError(404, 'rest_comment_invalid_id')
        : restError(409, 'comment_duplicate');
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('done');
    expect((await mine(ada)).comments).toMatchObject([{ status: 'waiting', content: 'Well said.' }]);
  });

  it('never uses an email address as the name, even if the profile’s name is one', async () => {
    const { post, ada, accounts, mine, moderation } = await open();
    await accounts.saveProfile(ada, { first_name: 'ada@example.com' }, 'merge');
    expect((await mine(ada)).name).toBe('');
    expect(kindOf(await post(ada, '', { name: undefined }))).toBe('invalid');
    expect(moderation.asked).toEqual([]);
  });

  it('needs a subscription when the rules say so, and the reader’s newest comment is listed first', async () => {
    const { post, ada, ben, paying, clock, mine } = await open({ level: 'subscriber' });
    expect((await mine(ada)).mayWrite).toBe(false);
    paying.add(ada.userId);
    expect([(await mine(ada)).mayWrite, (await mine(ben)).mayWrite]).toEqual([true, false]);
    for (const content of ['First.', 'Second.']) {
      await post(ada, 'Ada', { content });
      clock.pass(1);
    }
    expect((await mine(ada)).comments.map(({ content }) => content)).toEqual(['Second.', 'First.']);
  });

  it('shows a comment as declined when WordPress no longer has it, but not when it denies access', async () => {
    const { post, ada, comments, moderation, clock, mine } = await open();
    await post(ada, 'Ada');
    const statusAfter = async (answer: () => Response) => {
      moderation.trouble = answer;
      clock.pass(301);
      await mine(ada);
      await comments.stop();
      return (await mine(ada)).comments[0]?.status;
    };
    // For example after the site's password was changed.
    expect(await statusAfter(() => restError(401, 'rest_forbidden_context'))).toBe('waiting');
    expect(await statusAfter(() => restError(404, 'rest_comment_invalid_id'))).toBe('declined');
  });

  it('rejects an edit of a declined comment, and accepts deleting one that WordPress already deleted', async () => {
    const { post, ada, comments, moderation, database, mine } = await open();
    await post(ada, 'Ada');
    const [{ id } = { id: '' }] = (await mine(ada)).comments;
    await database.db.updateTable('comment_posts').set({ state: 'declined' }).execute();
    expect(kindOf(await comments.edit(ada, id, 'Better said.', caller()))).toBe('gone');
    await database.db.updateTable('comment_posts').set({ state: 'waiting' }).execute();
    moderation.trouble = () => restError(410, 'rest_already_trashed');
    expect(kindOf(await comments.remove(ada, id))).toBe('done');
    expect((await mine(ada)).comments).toEqual([]);
  });

  it('limits a reader’s edits and reports', async () => {
    const { post, ada, ben, comments, mine } = await open();
    await post(ada, 'Ada');
    const [{ id } = { id: '' }] = (await mine(ada)).comments;
    const most = { edits: defaultLimits.comment.email?.most ?? 0, reports: defaultLimits.report.email?.most ?? 0 };
    const edits: string[] = [];
    for (let at = 0; at < most.edits; at++)
      edits.push(kindOf(await comments.edit(ada, id, `Said ${at}.`, elsewhere(at))));
    // Posting the comment counts, too.
    expect(edits.filter((kind) => kind === 'done')).toHaveLength(most.edits - 1);
    expect(edits.at(-1)).toBe('limited');
    const reports: string[] = [];
    for (let at = 0; at <= most.reports; at++)
      reports.push(kindOf(await comments.report(ben, 900 + at, elsewhere(at))));
    expect(reports.filter((kind) => kind === 'done')).toHaveLength(most.reports);
    expect(reports.at(-1)).toBe('limited');
    await comments.stop();
  });

  it('holds back only the comment that two readers reported', async () => {
    const { post, ada, ben, join, comments, moderation } = await open();
    for (const content of ['First.', 'Second.']) await post(ada, 'Ada', { content });
    const [first, second] = moderation.all().map(({ id }) => Number(id)) as [number, number];
    for (const id of [first, second]) moderation.moderate(id, 'approved');
    const cleo = (await join('cleo@example.com')).session;
    await comments.report(ben, first, caller());
    await comments.report(cleo, second, caller());
    await comments.tasks.round();
    expect(moderation.all().map(({ reports, status }) => [reports, status])).toEqual([
      [1, 'approved'],
      [1, 'approved'],
    ]);
    await comments.report(cleo, first, caller());
    await comments.tasks.round();
    expect(moderation.all().map(({ status }) => status)).toEqual(['hold', 'approved']);
    await comments.stop();
  });

  it('sends a report once in a round while WordPress is down, and waits longer after each try, up to 15 minutes', async () => {
    const { post, ada, ben, comments, moderation, clock } = await open();
    await post(ada, 'Ada');
    moderation.trouble = 'down';
    await comments.report(ben, 900, caller());
    const asked = async (seconds: number) => {
      clock.pass(seconds);
      await comments.tasks.round();
      return moderation.asked.splice(0).filter((each) => each.endsWith('/reports')).length;
    };
    expect(await asked(0)).toBe(1);
    // Of each wait, the second half is random.
    for (const longest of [30, 60, 120, 240, 480, 900, 900])
      expect([await asked(longest / 2 - 1), await asked(longest / 2 + 2)], `${longest} seconds`).toEqual([0, 1]);
    await comments.stop();
  });

  it('looks up a lost draft every two minutes, and gives up after a day', async () => {
    const { post, ada, comments, moderation, clock, database } = await open();
    moderation.trouble = 'down';
    await post(ada, 'Ada', { draft: 'draft-one' });
    moderation.trouble = 'none';
    moderation.asked.length = 0;
    const asked = async (seconds: number) => {
      clock.pass(seconds);
      await comments.tasks.round();
      return moderation.asked.splice(0).length;
    };
    expect([await asked(60), await asked(61), await asked(60), await asked(61)]).toEqual([0, 1, 0, 1]);
    const drafts = () => database.db.selectFrom('comment_posts').select('draft').execute();
    expect(await drafts()).toEqual([{ draft: 'draft-one' }]);
    await asked(86_400);
    expect(await drafts()).toEqual([]);
  });

  it('removes the name from an erased account’s comments, and from no others', async () => {
    const { post, ada, ben, comments, moderation, clock } = await open();
    await post(ada, 'Ada');
    await post(ben, 'Ben');
    await comments.personalData.erase(ada, null);
    clock.pass(60);
    await comments.tasks.round();
    expect(moderation.all().map(({ author_name }) => author_name)).toEqual(['A former reader', 'Ben']);
    await comments.stop();
  });

  it('keeps a draft that WordPress postpones with 429', async () => {
    const { post, ada, moderation, database } = await open();
    moderation.trouble = () => restError(429, 'too_many_requests');
    expect(kindOf(await post(ada, 'Ada', { draft: 'draft-one' }))).toBe('unavailable');
    expect(await database.db.selectFrom('comment_posts').select('state').execute()).toEqual([{ state: 'sending' }]);
  });
});

it('requests to WordPress follow no redirect, and omit an unknown network address', async () => {
  const requests: RequestInit[] = [];
  const moderation = createModeration({
    url: 'https://moderation.example',
    user: 'site',
    password: 'x',
    fetch: async (_, init) => {
      requests.push(init ?? {});
      return Response.json({ id: 1, status: 'hold' });
    },
  });
  const comment = {
    articleId: 7,
    parentId: 0,
    name: 'Ada',
    email: 'ada@example.com',
    confirmed: true,
    date: 0,
    key: 'k',
  };
  for (const address of ['unknown', '2001:db8::1'])
    await moderation.post({ ...comment, content: 'Well said.', address, userAgent: null });
  expect(requests.map(({ redirect }) => redirect)).toEqual(['error', 'error']);
  const addresses = requests.map(({ body }) => (JSON.parse(String(body)) as { author_ip?: string }).author_ip);
  expect(addresses).toEqual([undefined, '2001:db8::1']);
});
