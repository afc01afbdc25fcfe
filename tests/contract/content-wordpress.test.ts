/** The content service against real WordPress: the sandbox's demo edition, and an empty one that the test edits. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { JSDOM } from 'jsdom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { Content, ContentChange, ContentOptions } from '../../src/content/service.ts';
import { publication } from '../../src/publication.ts';
import { body, type Newsroom, startNewsroom } from '../../wordpress/newsroom/tests/harness.ts';
import { askForSandbox, sandboxMs } from '../world/world.ts';

type Logged = { readonly message: string; readonly context: Record<string, unknown> };

function service(options: Partial<ContentOptions> & Pick<ContentOptions, 'wordpress'>): {
  content: Content;
  logged: Logged[];
  changes: ContentChange[];
} {
  const logged: Logged[] = [];
  const changes: ContentChange[] = [];
  const keep = (context: object, message: string): void =>
    void logged.push({ message, context: context as Record<string, unknown> });
  const content = openContent({
    file: ':memory:',
    siteUrl: 'http://127.0.0.1:8837',
    frameHosts: [...publication.embeds.frameHosts],
    pollSeconds: 3600,
    threads: false,
    measure: async () => ({ width: 1600, height: 900 }),
    log: { debug() {}, info() {}, warn: keep, error: keep },
    onChange: (change) => void changes.push(change),
    ...options,
  });
  return { content, logged, changes };
}

describe('the demo edition', () => {
  let content: Content;
  let logged: Logged[];
  beforeAll(async () => {
    const { url, siteUser, siteApplicationPassword } = (await askForSandbox()).wordpress;
    const frameHosts = [...publication.embeds.frameHosts, new URL(url).host];
    ({ content, logged } = service({
      wordpress: { url, user: siteUser, password: siteApplicationPassword },
      frameHosts,
    }));
    const report = await content.syncNow();
    expect(report).toMatchObject({ ok: true, problem: null });
  }, sandboxMs);
  afterAll(() => content?.stop());

  it('is synced completely', () => {
    const reader = content.reader();
    expect(content.status()).toMatchObject({ ready: true, credentials: true });
    expect(logged.filter(({ message }) => message.includes('credentials'))).toEqual([]);
    expect(reader.sections().map(({ slug }) => slug)).toEqual(publication.sections.map(({ slug }) => slug));
    expect(reader.articles({}).total).toBeGreaterThanOrEqual(60);
    for (const { slug, id } of reader.sections()) {
      expect(id, slug).toBeGreaterThan(0);
      expect(reader.articles({ section: slug }).total, slug).toBeGreaterThan(0);
    }
    expect(reader.videos({}).total).toBeGreaterThanOrEqual(8);
    expect(reader.crosswords({}).total).toBeGreaterThanOrEqual(12);
    expect(reader.authors().length).toBeGreaterThan(3);
    expect(reader.page('about')).not.toBeNull();
    expect(reader.topStories().featured).not.toBeNull();
  });

  it('has what pages need in every article, and no unsafe HTML', () => {
    const reader = content.reader();
    const { items } = reader.articles({ limit: 1000 });
    for (const { slug } of items) {
      const article = reader.article(slug);
      expect(article?.title, slug).toBeTruthy();
      expect(article?.date, slug).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u);
      expect([...(article?.excerpt ?? '')].length, slug).toBeLessThanOrEqual(300);
      if (article?.image) expect(article.image.width && article.image.height, slug).toBeTruthy();
      const { document } = new JSDOM(article?.bodyHtml).window;
      expect(document.querySelector('script, iframe, style, form, svg, math, object, embed, input'), slug).toBeNull();
      for (const element of document.body.querySelectorAll('*')) {
        for (const { name, value } of element.attributes)
          expect(`${slug} ${name}=${value}`).not.toMatch(/^\S+ (?:on|style=|href=\W*javascript)/iu);
      }
    }
    // Paid bodies are complete, because the site signed in.
    const paid = items
      .filter(({ access }) => access === 'registered' || access === 'subscriber')
      .map(({ slug }) => reader.article(slug));
    expect(paid.length).toBeGreaterThan(0);
    expect(paid.some((article) => (article?.words ?? 0) > 300)).toBe(true);
    for (const article of paid)
      if ((article?.words ?? 0) > 300)
        expect(article?.openingHtml.length).toBeLessThan((article?.bodyHtml.length ?? 0) / 2);
  });

  it('can be searched by a word of a title and by an author’s name', () => {
    const reader = content.reader();
    const [newest] = reader.articles({ limit: 1 }).items;
    const longest = newest?.title.match(/\p{L}{6,}/gu)?.[0] ?? '';
    expect(reader.search(longest).items.map(({ id }) => id)).toContain(newest?.id);
    const author = reader.authors().find(({ id }) => reader.articles({ authorId: id }).total > 0);
    expect(reader.search(author?.name ?? '').total).toBeGreaterThan(0);
  });

  it('is up to date: a second sync stores nothing', async () => {
    expect(await content.syncNow()).toMatchObject({ ok: true, stored: 0, withdrawn: 0 });
  });
});

describe('an editor’s WordPress', () => {
  let newsroom: Newsroom;
  let wordpress: ContentOptions['wordpress'];
  let content: Content;
  let changes: ContentChange[];
  let logged: Logged[];
  let site: http.Server;
  /** Answers of the webhook so far. */
  const answered: { event: string; type: string; status: number; body: unknown }[] = [];
  let wake: () => void = () => {};

  beforeAll(async () => {
    site = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const rawBody = Buffer.concat(chunks);
        const answer = await content.receive({ headers: request.headers, rawBody });
        const { event, type } = JSON.parse(rawBody.toString('utf8')) as { event: string; type: string };
        response
          .writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers })
          .end(JSON.stringify(answer.body));
        answered.push({ event, type, status: answer.status, body: answer.body });
        wake();
      });
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    newsroom = await startNewsroom(siteUrl);
    const password = (await newsroom.php(
      `return WP_Application_Passwords::create_new_application_password( get_users( array( 'role' => 'newsroom_site' ) )[0]->ID, array( 'name' => 'Contract' ) )[0];`,
    )) as string;
    const user = (await newsroom.php(
      `return get_users( array( 'role' => 'newsroom_site' ) )[0]->user_login;`,
    )) as string;
    wordpress = { url: newsroom.url, user, password };
    ({ content, changes, logged } = service({ wordpress, siteUrl, secret: newsroom.secret }));
    expect(await content.syncNow()).toMatchObject({ ok: true });
  });
  afterAll(async () => {
    await content?.stop();
    await newsroom?.stop();
    site?.close();
  });

  /** Waits until a webhook answered that satisfies `wanted`; what came before `from` does not count. */
  async function webhook(
    from: number,
    wanted: (one: (typeof answered)[number]) => boolean,
  ): Promise<(typeof answered)[number]> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const found = answered.slice(from).find(wanted);
      if (found) return found;
      if (Date.now() > deadline)
        throw new Error(
          `no such webhook; got ${JSON.stringify(answered.slice(from))}, logged ${JSON.stringify(logged.slice(-3))}`,
        );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (!answered.slice(from).some(wanted)) await newsroom.cron();
    }
  }

  const write = async (route: string, part: object): Promise<{ id: number; slug: string; status: string }> => {
    const answer = await newsroom.rest(route, { as: 'admin', method: 'POST', body: part });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  };
  let id = 0;

  it('publishes a story to the site', async () => {
    const from = answered.length;
    const term = await write('/wp/v2/categories', { name: 'Politics & Power', slug: 'politics' });
    ({ id } = await write('/wp/v2/articles', {
      title: 'Bridge <em>opens</em> & closes',
      slug: 'bridge',
      content: body('done'),
      status: 'publish',
      categories: [term.id],
    }));
    const answer = await webhook(from, ({ event, type }) => event === 'publish' && type === 'articles');
    expect(answer).toMatchObject({
      status: 200,
      body: { ok: true, refreshed: expect.arrayContaining(['/article/bridge']) },
    });
    const article = content.reader().article('bridge');
    expect(article?.title).toBe('Bridge opens & closes');
    expect(article?.bodyHtml).toContain('Paragraph 1 tells');
    expect(article?.openingHtml).not.toContain('done');
  });

  it('gives the site no draft and no scheduled, private or pending story, by webhook or by a first sync', async () => {
    const from = answered.length;
    const date_gmt = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 19);
    const hidden: { id: number; slug: string }[] = [];
    for (const status of ['draft', 'future', 'private', 'pending']) {
      const slug = `hidden-${status}`;
      const part = { title: `Hidden ${status}`, slug, content: body('soon'), status };
      const story = await write('/wp/v2/articles', { ...part, ...(status === 'future' && { date_gmt }) });
      expect(story.status).toBe(status);
      hidden.push({ id: story.id, slug });
    }
    const shown = await write('/wp/v2/articles', { title: 'Shown', slug: 'shown', status: 'publish' });
    await webhook(from, () => content.reader().exists('articles', 'shown'));
    const { content: other } = service({ wordpress });
    try {
      expect(await other.syncNow()).toMatchObject({ ok: true });
      for (const reader of [content.reader(), other.reader()]) {
        const ids = [...hidden, shown].map((story) => story.id);
        expect(reader.articles({ ids }).items.map((story) => story.id)).toEqual([shown.id]);
        for (const { slug } of hidden) expect([slug, reader.article(slug)]).toEqual([slug, null]);
        expect(reader.search('Hidden').items.map(({ slug }) => slug)).toEqual([]);
      }
    } finally {
      await other.stop();
    }
  });

  it('changes a story’s body, and no list is invalidated', async () => {
    const [from, before] = [answered.length, changes.length];
    await write(`/wp/v2/articles/${id}`, { content: body('done').replace('Paragraph 1 tells', 'Paragraph one told') });
    // A change right after the publication may be reported together with it, as one "publish".
    const told = () => content.reader().article('bridge')?.bodyHtml.includes('Paragraph one told') ?? false;
    await webhook(from, ({ type }) => type === 'articles' && told());
    const tags = new Set(changes.slice(before).flatMap((change) => [...change.tags]));
    expect(tags).toContain(`article:${id}`);
    expect([...tags].filter((tag) => /^(?:section|latest|author)/u.test(tag))).toEqual([]);
  });

  it('changes a story’s slug, and the old address points to the new one', async () => {
    const from = answered.length;
    await write(`/wp/v2/articles/${id}`, { slug: 'bridge-again' });
    const has = () => content.reader().resolveSlug('articles', 'bridge')?.kind === 'moved';
    // A repeated webhook of the edit may come first.
    await webhook(from, ({ type }) => type === 'articles' && has());
    expect(content.reader().resolveSlug('articles', 'bridge')).toEqual({ kind: 'moved', slug: 'bridge-again' });
  });

  it('withdraws a story, and publishes it again', async () => {
    let from = answered.length;
    await write(`/wp/v2/articles/${id}`, { status: 'draft' });
    await webhook(from, ({ event, type }) => event === 'unpublish' && type === 'articles');
    expect(content.reader().resolveSlug('articles', 'bridge-again')).toEqual({ kind: 'gone' });
    expect(changes.flatMap(({ withdrawn }) => withdrawn)).toContainEqual({ type: 'articles', slug: 'bridge-again' });
    from = answered.length;
    await write(`/wp/v2/articles/${id}`, { status: 'publish' });
    await webhook(from, ({ event, type }) => event === 'publish' && type === 'articles');
    expect(content.reader().article('bridge-again')?.id).toBe(id);
  });

  it('is followed by sync alone when webhooks are off', async () => {
    await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
      wp_update_post( array( 'ID' => $input['id'], 'post_title' => 'Quietly changed' ) );
      $GLOBALS['other'] = wp_insert_post( array( 'post_type' => 'articles', 'post_status' => 'publish', 'post_title' => 'Short-lived', 'post_content' => 'x' ) );
      return 1;`,
      { id },
    );
    expect(await content.syncNow()).toMatchObject({ ok: true });
    expect(content.reader().article('bridge-again')?.title).toBe('Quietly changed');
    expect(content.reader().article('short-lived')).not.toBeNull();
    await newsroom.php(`add_filter( 'newsroom_webhooks_enabled', '__return_false' );
      wp_delete_post( get_page_by_path( 'short-lived', OBJECT, 'articles' )->ID, true ); return 1;`);
    expect(await content.syncNow()).toMatchObject({ ok: true });
    expect(content.reader().resolveSlug('articles', 'short-lived')).toEqual({ kind: 'gone' });
  });

  it.each([
    ['a draft', false, { status: 'draft' }],
    ['a story with a password', true, { status: 'publish', password: 'sesame' }],
  ])('previews %s through the signed link', async (_, isProtected, part) => {
    const { createHmac } = await import('node:crypto');
    const { id } = await write('/wp/v2/articles', { title: 'Not yet', content: body('soon'), ...part });
    const expires = String(Math.floor(Date.now() / 1000) + 300);
    const signature = createHmac('sha256', newsroom.secret).update(`preview.articles.${id}.${expires}`).digest('hex');
    const answer = await content.preview(new URLSearchParams({ type: 'articles', id: String(id), expires, signature }));
    const article = { title: 'Not yet', bodyHtml: expect.stringContaining('soon') };
    expect(answer).toMatchObject({ status: 200, isProtected, document: { type: 'articles', article } });
    expect(await content.syncNow()).toMatchObject({ ok: true });
    expect(content.reader().articles({ ids: [id] }).total).toBe(0);
  });

  it('answers every request of the specification, with the expected errors past the end of lists', async () => {
    const status = async (route: string) => {
      const answer = await newsroom.rest(route);
      return [answer.status, Array.isArray(answer.json) ? answer.json.length : answer.json?.code];
    };
    expect(await status('/wp/v2/articles?page=999')).toEqual([400, 'rest_post_invalid_page_number']);
    expect(await status('/wp/v2/articles?offset=99999')).toEqual([200, 0]);
    expect(await status('/wp/v2/articles/99999')).toEqual([404, 'rest_post_invalid_id']);
    expect(await status('/wp/v2/pages?slug=top-stories-2&per_page=1')).toEqual([200, 0]);
    expect((await status('/wp/v2/crosswords?per_page=1&offset=0&order=desc&orderby=date'))[0]).toBe(200);
    expect((await status('/wp/v2/video?per_page=1&orderby=date&order=desc'))[0]).toBe(200);
    expect((await status('/newsroom/v1/menus'))[0]).toBe(200);
  });
});
