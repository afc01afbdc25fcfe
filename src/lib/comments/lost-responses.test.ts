/** Comments while WordPress is down or its responses are lost, on both engines. */
import { expect, it } from 'vitest';
import { commentsOn, failure, value } from '../../../tests/world/comments.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';

onBothEngines('comments', (engines) => {
  const open = commentsOn(engines);

  it('are posted once per draft, however many requests send it', async () => {
    const { post, moderation } = await open();
    const all = await Promise.all([1, 2, 3, 4].map(() => post({ draft: 'draft-one' })));
    expect(moderation.all()).toHaveLength(1);
    expect(all.filter(({ ok }) => ok).length).toBeGreaterThan(0);
    expect(all.filter(({ ok }) => !ok).map(failure)).toSatisfy((kinds: unknown[]) =>
      kinds.every((kind) => kind === 'busy'),
    );
    expect(value(await post({ draft: 'draft-one' })).commentId).toBe(moderation.all()[0]?.id);
    // Without a draft id, the text and its place identify the draft.
    value(await post({ content: 'Again.' }));
    value(await post({ content: 'Again.' }));
    expect(moderation.all()).toHaveLength(2);
    expect(failure(await post({ content: 'Again.', draft: 'draft-two' }))).toBe('duplicate');
    expect(moderation.all()).toHaveLength(2);
  });

  it('are not lost while WordPress is down, nor posted twice after a lost response', async () => {
    const { post, moderation, mine } = await open();
    moderation.trouble = 'down';
    expect(failure(await post({ draft: 'draft-one' }))).toBe('unavailable');
    expect((await mine()).comments).toEqual([]);
    moderation.trouble = 'lost';
    expect(failure(await post({ draft: 'draft-one' }))).toBe('unavailable');
    moderation.trouble = 'none';
    // WordPress has the comment, but its answer was lost: the text may have been edited since.
    const found = value(await post({ draft: 'draft-one', content: 'Well said, indeed.' }));
    expect(moderation.all()).toHaveLength(1);
    expect(moderation.all()[0]).toMatchObject({ id: found.commentId, raw: 'Well said, indeed.' });
    expect(moderation.asked.filter((each) => each === 'POST /wp/v2/comments')).toHaveLength(1 + 1);
    for (const trouble of [500, 503, 429]) {
      moderation.trouble = () => new Response('<h1>Bad gateway</h1>', { status: trouble });
      expect(failure(await post({ draft: `draft-${trouble}`, content: `Words ${trouble}` }))).toBe('unavailable');
    }
  });

  it('are looked up in WordPress after a lost response, and dropped if WordPress never got them', async () => {
    const { post, moderation, comments, clock, mine, database } = await open();
    moderation.trouble = 'lost';
    await post({ draft: 'draft-one' });
    moderation.trouble = 'down';
    await post({ draft: 'draft-two', content: 'Never taken.' });
    moderation.trouble = 'none';
    clock.pass(180);
    await comments.tasks.round();
    expect((await mine()).comments.map(({ content }) => content)).toEqual(['Well said.']);
    clock.pass(2 * 86_400);
    await comments.tasks.round();
    await comments.stop();
    expect(await database.db.selectFrom('comment_posts').select('content').execute()).toEqual([
      { content: 'Well said.' },
    ]);
  });

  it('are kept as drafts until WordPress says that it does not have them', async () => {
    const { post, moderation, comments, clock, mine } = await open();
    moderation.trouble = 'lost';
    await post({ draft: 'draft-one' });
    for (const [code, status] of [
      ['rest_forbidden', 401],
      ['rest_no_route', 404],
    ] as const) {
      moderation.trouble = () => Response.json({ code }, { status });
      clock.pass(2 * 86_400);
      await comments.tasks.round();
    }
    moderation.trouble = 'none';
    clock.pass(180);
    await comments.tasks.round();
    expect((await mine()).comments).toHaveLength(1);
    await comments.stop();
  });

  it('are no longer looked up after the running request when the process stops', async () => {
    const { post, moderation, comments, clock, slow } = await open();
    moderation.trouble = 'lost';
    for (const one of ['one', 'two', 'three']) await post({ draft: `draft-${one}`, content: one });
    clock.pass(180);
    const before = moderation.asked.length;
    let stopping: Promise<void> | undefined;
    slow.wait = async () => {
      stopping ??= comments.stop();
    };
    await comments.tasks.round();
    await stopping;
    expect(moderation.asked.slice(before)).toEqual(['GET /newsroom/v1/comments']);
  });

  it('are looked up in WordPress five at a time until all are checked', async () => {
    const { post, comments, moderation, clock, mine } = await open();
    for (let index = 0; index < 7; index++) value(await post({ content: `Thought ${index}.` }));
    clock.pass(301);
    const looks = () => moderation.asked.filter((each) => /^GET \/wp\/v2\/comments\/\d+$/.test(each));
    await mine();
    expect(looks()).toHaveLength(5);
    await comments.stop();
    await mine();
    await comments.stop();
    expect(new Set(looks())).toHaveLength(7);
  });

  it('treat a corrected lost draft as an edit, and after five minutes as a new comment', async () => {
    const { post, comments, moderation, clock, mine } = await open();
    const lose = async (draft: string, content: string) => {
      moderation.trouble = 'lost';
      expect(failure(await post({ draft, content }))).toBe('unavailable');
      moderation.trouble = 'none';
      clock.pass(180);
      await comments.tasks.round();
    };
    await lose('draft-one', 'Well said.');
    expect(value(await post({ draft: 'draft-one', content: 'Well said, indeed.' })).content).toBe('Well said, indeed.');
    expect(moderation.all().map(({ raw }) => raw)).toEqual(['Well said, indeed.']);
    await lose('draft-two', 'Once more.');
    clock.pass(300);
    expect(value(await post({ draft: 'draft-two', content: 'Once more, please.' })).content).toBe('Once more, please.');
    expect(moderation.all().map(({ raw }) => raw)).toEqual(['Well said, indeed.', 'Once more.', 'Once more, please.']);
    expect((await mine()).comments).toHaveLength(3);
    await comments.stop();
  });
});
