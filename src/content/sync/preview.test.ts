import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { changes, clock, content, edit, hmac, openWithStories, wordpress } from '../../../tests/world/webhooks.ts';

beforeEach(openWithStories);
afterEach(() => content.stop());

describe('a preview', () => {
  const link = (part: Record<string, string> = {}): URLSearchParams => {
    const expires = String(Math.floor(clock.now / 1000) + 600);
    const params = { type: 'articles', id: '7', expires, ...part };
    return new URLSearchParams({
      ...params,
      signature: part.signature ?? hmac(`preview.${params.type}.${params.id}.${params.expires}`),
    });
  };

  it('shows the draft as it would look, and stores nothing', async () => {
    edit(7, {
      status: 'draft',
      slug: '',
      date_gmt: null,
      title: { rendered: 'Draft' },
      content: { rendered: '<p>New<script>x</script></p>' },
    });
    const { status, document } = await content.preview(link());
    expect(status).toBe(200);
    expect(document).toMatchObject({
      type: 'articles',
      article: { title: 'Draft', bodyHtml: '<p>New</p>', section: { slug: 'politics' } },
    });
    expect(content.reader().article('a-7')?.title).toBe('Headline 7');
    expect(changes).toEqual([]);
  });

  it('shows the newest autosave', async () => {
    wordpress.intercept = (request) =>
      request.url.endsWith('/articles/7/autosaves')
        ? Response.json([
            { modified_gmt: '2026-11-20T13:00:00', title: { rendered: 'Older' } },
            {
              modified_gmt: '2026-11-20T14:00:00',
              title: { rendered: 'Newest' },
              content: { rendered: '<p>Saved</p>' },
              meta: {
                newsroom_corrections: [
                  { kind: 'clarification', text: 'Not saved yet.' },
                  { kind: 'correction', date: '2026-11-20T13:30:00Z', text: 'It <b>was</b>.' },
                ],
              },
            },
          ])
        : null;
    expect((await content.preview(link())).document).toMatchObject({
      article: {
        title: 'Newest',
        bodyHtml: '<p>Saved</p>',
        corrections: [
          { kind: 'clarification', date: expect.stringMatching(/^\d{4}-/), html: 'Not saved yet.' },
          { kind: 'correction', date: '2026-11-20T13:30:00Z', html: 'It was.' },
        ],
      },
    });
  });

  it('shows a lead picture that was chosen but not saved', async () => {
    const media = {
      id: 31,
      media_type: 'image',
      source_url: `${wordpress.url}/wp-content/uploads/new.jpg`,
      alt_text: 'A bridge',
      media_details: { width: 1600, height: 900 },
      caption: { rendered: '<p>By <b>night</b></p>' },
      meta: { newsroom_credit: 'Ada' },
    };
    wordpress.intercept = ({ url }) => {
      if (url.includes('/wp/v2/media/33')) return Response.json({ ...media, media_type: 'file' });
      return url.includes('/wp/v2/media/31') ? Response.json(media) : null;
    };
    const shown = async (chosen: string) => {
      const params = link();
      params.set('_thumbnail_id', chosen);
      const { document } = await content.preview(params);
      return document?.type === 'articles' ? document.article.image : undefined;
    };
    const published = content.reader().article('a-7')?.image ?? null;
    expect(await shown('31')).toMatchObject({ alt: 'A bridge', width: 1600, caption: 'By night', credit: 'Ada' });
    // One that WordPress doesn't have, a file that is no picture, and something that is no id.
    for (const chosen of ['32', '33', '../users/1', '-1']) expect(await shown(chosen)).toEqual(published);
  });

  it('shows the byline of the autosave, with author names from the content store', async () => {
    for (const [id, name] of [
      [9001, 'Ada'],
      [9002, 'Ben'],
    ] as const) {
      wordpress.put('authors', { id, ...wirePost({ id, slug: name.toLowerCase(), title: { rendered: name } }) });
      await content.refresh('authors', id);
    }
    let meta: Json = {};
    wordpress.intercept = (request) =>
      request.url.endsWith('/articles/7/autosaves')
        ? Response.json([{ modified_gmt: '2026-11-20T14:00:00', meta }])
        : null;
    const shown = async () => {
      const { document } = await content.preview(link());
      return document?.type === 'articles' ? document.article.byline : null;
    };
    meta = {
      newsroom_authors: [9002, 9001, 9009],
      newsroom_contributors: [],
      newsroom_agency: 'AP',
      newsroom_agency_url: '',
    };
    expect(await shown()).toMatchObject({
      authors: [{ name: 'Ben' }, { name: 'Ada' }],
      agency: { name: 'AP', url: '' },
    });
    meta = { newsroom_authors: [], newsroom_author: 9001, newsroom_contributors: [9002], newsroom_agency: '' };
    expect(await shown()).toMatchObject({ authors: [{ name: 'Ada' }], contributors: [{ name: 'Ben' }], agency: null });
    meta = { newsroom_authors: [], newsroom_author: 0, newsroom_contributors: [], newsroom_agency: '' };
    const before = wordpress.store.articles.get(7) as Json & { id: number };
    const own = { byline: { authors: [9001], contributors: [], agency: null }, acf: { author: 9001 } };
    wordpress.put('articles', { ...before, ...own });
    // Another plugin manages the byline: the article's own lists were empty before, too.
    expect(await shown()).toMatchObject({ authors: [{ name: 'Ada' }] });
    wordpress.put('articles', { ...before, ...own, meta: { newsroom_authors: [9001] } });
    expect(await shown()).toMatchObject({ authors: [], contributors: [] });
  });

  it('shows a document with a password, and says that it has one', async () => {
    expect((await content.preview(link())).isProtected).toBe(false);
    edit(7, { content: { rendered: '<p>Body</p>', protected: true } });
    expect(await content.preview(link())).toMatchObject({
      isProtected: true,
      document: { article: { bodyHtml: '<p>Body</p>' } },
    });
  });

  it('says which field of an invalid draft is wrong', async () => {
    edit(7, { status: 'draft', access: 'gold' });
    expect(await content.preview(link())).toEqual({ status: 422, error: expect.stringMatching(/access: .*"gold"/u) });
  });

  it('requires a valid signature, and is refused when its link has expired or expires too late', async () => {
    expect((await content.preview(link({ signature: '0'.repeat(64) }))).status).toBe(401);
    expect((await content.preview(link({ expires: String(Math.floor(clock.now / 1000) - 1) }))).status).toBe(410);
    expect((await content.preview(link({ expires: String(Math.floor(clock.now / 1000) + 86_400) }))).status).toBe(410);
    expect((await content.preview(link({ type: 'users' }))).status).toBe(400);
    expect((await content.preview(new URLSearchParams())).status).toBe(400);
    expect(wordpress.requests).toEqual([]);
    expect((await content.preview(link({ id: '99999' }))).status).toBe(404);
  });
});
