/** The comments service on both engines, over the wire of a WordPress in memory. */
import { expect, it } from 'vitest';
import { restError } from '../../../tests/fixtures/wordpress.ts';
import { caller, elsewhere, got } from '../../../tests/world/accounts.ts';
import { commentsOn, failure, value } from '../../../tests/world/comments.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { Session } from '../accounts/service.ts';
import { defaultLimits } from '../http/limits.ts';
import { silent } from '../logging.ts';
import type { RunningComments } from './service.server.ts';

/** The comments in the export of personal data. */
const exported = async (comments: RunningComments, session: Session) =>
  (await comments.personalData.export(session)).comments as { written: unknown[]; reported: unknown[] };

onBothEngines('comments', (engines) => {
  const open = commentsOn(engines);

  it('are sent to WordPress with escaped text, and are shown as waiting to their author only', async () => {
    const { post, moderation, mine, clock, join } = await open();
    const comment = value(
      await post({ content: ' <b>Well</b> said.\n\n\nIndeed. ', place: { articleId: 7, open: true, parentId: 3 } }),
    );
    expect(moderation.all()).toMatchObject([
      {
        post: 7,
        parent: 3,
        author_name: 'Ada Lovelace',
        author_email: 'ada@example.com',
        author_ip: '203.0.113.1',
        raw: '&lt;b&gt;Well&lt;/b&gt; said.\n\nIndeed.',
        date: new Date(clock.now).toISOString().slice(0, 19),
      },
    ]);
    expect(comment).toMatchObject({
      status: 'waiting',
      content: '<b>Well</b> said.\n\nIndeed.',
      author: 'Ada Lovelace',
      parentId: 3,
    });
    expect(JSON.stringify(comment)).not.toMatch(/@|203\.0/);
    expect((await mine()).comments).toEqual([comment]);
    const { session: ben } = await join('ben@example.com');
    expect((await mine(ben)).comments).toEqual([]);
  });

  it.each([
    ['comment_duplicate', 409, 'duplicate'],
    ['comment_flood', 400, 'limited'],
    ['rest_comment_closed', 403, 'closed'],
    ['rest_comment_invalid_post_id', 403, 'gone'],
    ['rest_comment_content_invalid', 400, 'invalid'],
    ['newsroom_busy', 409, 'busy'],
    ['rest_comment_invalid_author_ip', 403, 'unavailable'],
  ])('report WordPress’s error %s by its kind, without its message', async (code, status, kind) => {
    const { post, moderation } = await open();
    moderation.trouble = () => Response.json({ code, message: 'secret@example.com', data: { status } }, { status });
    const outcome = await post({ draft: 'draft-one' });
    expect(failure(outcome)).toBe(kind);
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it('are checked for text, name, place and permission before any request to WordPress', async () => {
    const { post, moderation, paying, session } = await open({ level: 'subscriber' });
    expect(failure(await post())).toBe('subscribers-only');
    paying.add(session.userId);
    expect(failure(await post({ place: null }))).toBe('gone');
    expect(failure(await post({ place: { articleId: 7, open: false, parentId: 0 } }))).toBe('closed');
    for (const content of ['', ' \n\u200b ', '\u2800\u3164', 'x'.repeat(101)])
      expect(await post({ content })).toMatchObject({ failure: { kind: 'invalid', field: 'content' } });
    for (const name of ['', 'ada@example.com', undefined])
      expect(await post({ name })).toMatchObject({ failure: { kind: 'invalid', field: 'name' } });
    expect(moderation.asked).toEqual([]);
    expect((await post({ content: '👍' })).ok).toBe(true);
  });

  it('use the chosen name, else the profile’s name, but never the email address', async () => {
    const { post, accounts, session, mine, moderation } = await open();
    expect((await mine()).name).toBe('');
    await accounts.saveProfile(session, { first_name: 'Ada', last_name: 'King' }, 'merge');
    expect((await mine()).name).toBe('Ada King');
    value(await post({ name: undefined, content: 'One.' }));
    value(await post({ name: 'Countess', content: 'Two.' }));
    value(await post({ name: undefined, content: 'Three.' }));
    expect(moderation.all().map((each) => each.author_name)).toEqual(['Ada King', 'Countess', 'Countess']);
    expect((await accounts.profile(session)).display_name).toBe('Countess');
  });

  it('can be edited and deleted only by their author, for five minutes', async () => {
    const { post, comments, session, join, moderation, clock, mine } = await open();
    const { id, commentId } = value(await post());
    moderation.moderate(commentId ?? 0, 'approved');
    expect((await mine()).comments[0]?.status).toBe('published');
    const { session: ben } = await join('ben@example.com');
    expect(failure(await comments.edit(ben, id, 'Mine now.', caller()))).toBe('gone');
    expect(failure(await comments.remove(ben, id))).toBe('gone');
    clock.pass(299);
    expect(value(await comments.edit(session, id, 'Better & said.', caller()))).toMatchObject({
      content: 'Better & said.',
      status: 'waiting',
    });
    expect(moderation.all()[0]).toMatchObject({ raw: 'Better &amp; said.', status: 'hold' });
    expect(failure(await comments.edit(session, id, '', caller()))).toBe('invalid');
    moderation.trouble = 'down';
    expect(failure(await comments.edit(session, id, 'Lost.', caller()))).toBe('unavailable');
    expect((await mine()).comments[0]?.content).toBe('Better & said.');
    moderation.trouble = 'none';
    clock.pass(1);
    expect(failure(await comments.edit(session, id, 'Too late.', caller()))).toBe('too-late');
    expect(failure(await comments.remove(session, id))).toBe('too-late');
    const second = value(await post({ content: 'Second.' }));
    expect((await comments.remove(session, second.id)).ok).toBe(true);
    expect(moderation.all()[1]?.status).toBe('trash');
    expect((await mine()).comments.map(({ id: each }) => each)).toEqual([id]);
  });

  it('stay deleted when an edit in another tab finishes later', async () => {
    const { comments, session, post, mine, database, slow } = await open();
    const { id } = value(await post());
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    slow.wait = () => {
      slow.wait = null;
      asked.resolve();
      return answered.promise;
    };
    const editing = comments.edit(session, id, 'Well said indeed.', caller());
    await asked.promise;
    value(await comments.remove(session, id));
    answered.resolve();
    expect(failure(await editing)).toBe('gone');
    expect((await mine()).comments).toEqual([]);
    expect(await database.db.selectFrom('comment_posts').select(['state']).execute()).toEqual([{ state: 'removed' }]);
  });

  it('send the user agent to WordPress, and are declined for good when its spam filter drops them', async () => {
    const { post, moderation, mine } = await open();
    value(await post({ content: 'Kept.' }));
    expect(moderation.all()[0]?.author_user_agent).toBe(caller().userAgent);
    moderation.trouble = () => restError(403, 'newsroom_comment_discarded');
    const dropped = { content: 'Buy now.', draft: 'draft-that-is-spam' };
    expect(value(await post(dropped))).toMatchObject({ status: 'declined' });
    const before = moderation.asked.length;
    // Sent again, it causes no further request.
    expect(value(await post(dropped))).toMatchObject({ status: 'declined' });
    expect(moderation.asked).toHaveLength(before);
    expect((await mine()).comments.map(({ status }) => status).sort()).toEqual(['declined', 'waiting']);
  });

  it('show the editors’ decision, and disappear from their author’s list after fourteen days', async () => {
    const { post, comments, moderation, clock, mine } = await open();
    const { commentId } = value(await post());
    moderation.moderate(commentId ?? 0, 'trash');
    expect((await mine()).comments[0]?.status).toBe('waiting');
    clock.pass(301);
    await mine();
    await comments.stop();
    expect((await mine()).comments[0]).toMatchObject({ status: 'declined', changeableUntil: null });
    clock.pass(14 * 86_400);
    expect((await mine()).comments).toEqual([]);
  });

  it('count each reader’s report once, and send reports until WordPress accepts them', async () => {
    const { post, comments, session, join, moderation, mine, clock, database } = await open();
    const { commentId } = value(await post());
    const id = commentId ?? 0;
    moderation.moderate(id, 'approved');
    expect(failure(await comments.report(session, id, caller()))).toBe('own');
    const unconfirmed = { ...session, userId: 'made-by-the-dozen', emailVerified: false };
    expect(failure(await comments.report(unconfirmed, id, caller()))).toBe('unconfirmed');
    moderation.trouble = 'down';
    const { session: ben } = await join('ben@example.com');
    const { session: cleo } = await join('cleo@example.com');
    for (const who of [ben, ben, cleo]) expect((await comments.report(who, id, caller())).ok).toBe(true);
    await comments.tasks.round();
    moderation.trouble = 'none';
    clock.pass(3600);
    await comments.tasks.round();
    expect(moderation.all()[0]).toMatchObject({ reports: 2, status: 'hold' });
    expect(await database.db.selectFrom('jobs').selectAll().execute()).toEqual([]);
    expect((await mine(ben)).reported).toEqual([id]);
    await comments.stop();
  });

  it('can be posted again after deletion, and count toward the limit again', async () => {
    const { post, comments, session, moderation, mine } = await open();
    const first = value(await post());
    expect((await comments.remove(session, first.id)).ok).toBe(true);
    const again = value(await post());
    expect(again.id).not.toBe(first.id);
    expect(moderation.all().map(({ status }) => status)).toEqual(['trash', 'hold']);
    expect((await mine()).comments.map(({ id }) => id)).toEqual([again.id]);
    const most = defaultLimits.comment.email?.most ?? 0;
    const kinds: unknown[] = [];
    for (let index = 0; index < most; index++) {
      const { comments: own } = await mine();
      if (own[0]) await comments.remove(session, own[0].id);
      kinds.push(failure(await post()));
    }
    expect(kinds.slice(-2)).toEqual(['limited', 'limited']);
  });

  it('need a confirmed email address, both to post and to edit', async () => {
    const { post, comments, moderation, session } = await open();
    const unconfirmed = { ...session, emailVerified: false };
    expect(failure(await post({}, unconfirmed))).toBe('unconfirmed');
    expect(moderation.all()).toEqual([]);
    const { id } = value(await post());
    expect(failure(await comments.edit(unconfirmed, id, 'Other words.', caller()))).toBe('unconfirmed');
  });

  it('are refused under the newspaper’s or an author’s name, in any spelling', async () => {
    const logged: unknown[] = [];
    const log = { ...silent, warn: (...line: unknown[]) => logged.push(line) };
    const { post, moderation, accounts, session } = await open({}, ['The Sun', 'Grace Miller'], log);
    for (const name of ['The Sun', 'Тhе Ѕun', 'Grасе Мillеr', 'The Sun\u3164']) {
      expect(await post({ name }), name).toMatchObject({ ok: false, failure: { kind: 'invalid', field: 'name' } });
    }
    // Nor if the profile has the name already.
    await accounts.saveProfile(session, { first_name: 'Grace', last_name: 'Miller' }, 'replace');
    expect(failure(await post({ name: undefined }))).toBe('invalid');
    expect(moderation.all()).toEqual([]);
    // The name may be the reader's own.
    expect(logged.length).toBeGreaterThan(3);
    expect(JSON.stringify(logged)).not.toContain('Miller');
    expect(value(await post({ name: 'Grace Hopper' })).author).toBe('Grace Hopper');
  });

  it('that repeat an earlier one do not use up the limit', async () => {
    const { post } = await open();
    value(await post({ content: 'Said once.', draft: 'draft-first' }));
    for (let time = 0; time < 20; time++) {
      expect(failure(await post({ content: 'Said once.', draft: `draft-again-${time}` }))).toBe('duplicate');
    }
    value(await post({ content: 'Something new.', draft: 'draft-other' }));
  });

  it('ignore reports from accounts with an unconfirmed address', async () => {
    const { post, comments, accounts, moderation, database } = await open();
    const { commentId } = value(await post());
    moderation.moderate(commentId ?? 0, 'approved');
    const before = moderation.asked.length;
    for (const number of [1, 2, 3]) {
      const made = got(await accounts.create(`made-up-${number}@example.com`, elsewhere(number), { enter: true }));
      const stranger = made.signedIn?.session as Session;
      expect(failure(await comments.report(stranger, commentId ?? 0, elsewhere(number)))).toBe('unconfirmed');
    }
    await comments.tasks.round();
    expect(moderation.asked).toHaveLength(before);
    expect(moderation.all()).toMatchObject([{ status: 'approved' }]);
    expect(await database.db.selectFrom('comment_reports').selectAll().execute()).toEqual([]);
    await comments.stop();
  });

  it('are limited per reader across network addresses, even when sent at once', async () => {
    const { comments, session } = await open();
    const most = defaultLimits.comment.email?.most ?? 0;
    const place = { articleId: 7, open: true, parentId: 0 };
    const all = await Promise.all(
      Array.from({ length: most + 6 }, (_, index) =>
        comments.post(session, { place, content: `Thought ${index}.`, name: 'Ada' }, caller(`203.0.113.${index}`)),
      ),
    );
    expect(all.filter(({ ok }) => ok)).toHaveLength(most);
    expect(all.filter(({ ok }) => !ok).map(failure)).toEqual(Array.from({ length: 6 }, () => 'limited'));
  });

  it('are exported, and lose their name in WordPress at erasure, even if it is down at first', async () => {
    const { post, comments, session, moderation, clock, database } = await open();
    value(await post({ content: 'Kept words.' }));
    moderation.trouble = 'lost';
    await post({ content: 'Taken unseen.', draft: 'draft-two' });
    await comments.report(session, 4711, caller());
    const { written, reported } = await exported(comments, session);
    expect(written).toMatchObject([
      { text: 'Kept words.', article: 7, state: 'waiting' },
      { text: 'Taken unseen.', state: 'sending' },
    ]);
    expect(reported).toMatchObject([{ comment: 4711 }]);
    moderation.trouble = 'down';
    await comments.personalData.erase(session, null);
    expect(await exported(comments, session)).toEqual({ written: [], reported: [] });
    moderation.trouble = 'none';
    for (let hour = 0; hour < 3; hour++) {
      clock.pass(3600);
      await comments.tasks.round();
    }
    expect(
      moderation
        .all()
        .map(({ raw, author_name, author_email, author_ip }) => [raw, author_name, author_email, author_ip]),
    ).toEqual([
      ['Kept words.', 'A former reader', '', ''],
      ['Taken unseen.', 'A former reader', '', ''],
    ]);
    expect(await database.db.selectFrom('jobs').selectAll().execute()).toEqual([]);
    await comments.stop();
  });

  it.each([
    ['was being sent when the account was deleted', true],
    ['was begun during the account’s deletion, which also deleted its row', false],
  ])('lose their name in WordPress even if one %s', async (_, isSeen) => {
    const { post, comments, session, moderation, clock, slow, database } = await open();
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    slow.wait = async () => {
      slow.wait = null;
      arrived.resolve();
      await held.promise;
    };
    const posting = post();
    await arrived.promise;
    if (isSeen) await comments.personalData.erase(session, null);
    await database.db.deleteFrom('users').where('id', '=', session.userId).execute();
    await comments.tasks.round();
    held.resolve();
    await posting;
    clock.pass(3600);
    await comments.tasks.round();
    expect(moderation.all()).toMatchObject([{ author_name: 'A former reader', author_email: '', author_ip: '' }]);
    await comments.stop();
  });
});
