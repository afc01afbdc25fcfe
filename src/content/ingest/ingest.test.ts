import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { describe, expect, it } from 'vitest';
import { type Json, wireComment, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { context, sanitizer, take } from '../../../tests/world/ingest.ts';
import { runs } from '../../../tests/world/runs.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { publication } from '../../publication.ts';
import { ingestComment, ingestDocument } from './ingest.server.ts';

const wrong = async (part: Json, type: DocumentType = 'articles') => {
  const result = await ingestDocument(sanitizer, type, wirePost({ id: 1, ...part }), context);
  return result.kind === 'rejected' ? result.rejection : result.kind;
};

describe('ingest of fields that WordPress and ACF send in several forms', () => {
  it('accepts an author as an object, a post, an ID, a list, or none', async () => {
    const ada = { id: 9, name: 'Ada', slug: 'ada', excerpt: 'Writes.', image: null };
    expect((await take({ acf: { author: ada } })).author).toEqual(ada);
    const post = { ID: '9', post_title: 'Ada', post_name: 'ada', post_excerpt: 'Writes.' };
    expect((await take({ acf: { author: post } })).author).toEqual(ada);
    expect((await take({ acf: { author: [post] } })).author).toEqual(ada);
    expect(await take({ acf: { author: '9' } })).toMatchObject({ authorId: 9, author: null });
    for (const acf of [
      [],
      null,
      false,
      {},
      undefined,
      { author: false },
      { author: '' },
      { author: [] },
      { author: null },
      { author: 0 },
    ]) {
      expect(await take({ acf })).toMatchObject({ authorId: null, author: null });
    }
  });

  it('accepts numbers and booleans as text, lists as objects, and dates with or without a time zone', async () => {
    const document = await take({
      id: '12',
      category: { 0: { id: '3' }, 2: { term_id: 4 } },
      restricted: '1',
      date_gmt: '2026-11-20 12:00:00',
      modified_gmt: '2026-11-20T12:00:00+02:00',
      image: { url: '/a.jpg', width: '1600', height: '900' },
    });
    expect(document).toMatchObject({
      id: 12,
      terms: [3, 4],
      date: '2026-11-20T12:00:00Z',
      modified: '2026-11-20T10:00:00Z',
    });
    expect(document.facts.restricted).toBe(true);
    expect(document.image).toMatchObject({ url: 'https://cms.example/a.jpg', width: 1600, height: 900 });
  });

  it('has no picture from a host that the image path doesn’t serve, even with its dimensions', async () => {
    const imageOf = async (url: string) => (await take({ image: { url, width: 1600, height: 900 } })).image;
    expect(await imageOf('https://elsewhere.example/a.jpg')).toBeNull();
    expect(await imageOf('https://i.ytimg.example/a.jpg')).toMatchObject({ width: 800, height: 600 });
    expect(await imageOf('http://cms.example/a.jpg')).toMatchObject({ width: 1600, height: 900 });
  });

  it('accepts the front page’s stories as IDs or posts', async () => {
    const page = (acf: Json) => take({ slug: 'top-stories-2', acf }, 'pages');
    expect(
      (
        await page({
          top_articles: ['5', { ID: 3 }, 5],
          breaking: '1',
          featured_excerpt: 'One &amp; all<br>Two',
          bulleted_featured_excerpt: 0,
        })
      ).topStories,
    ).toEqual({
      ids: [5, 3],
      breaking: true,
      bulleted: false,
      featuredExcerpt: 'One & all\nTwo',
    });
    expect((await page({ top_articles: false })).topStories?.ids).toEqual([]);
    expect(await take({ slug: 'about', parent: 0 }, 'pages')).toMatchObject({ topStories: null, facts: {} });
    expect((await take({ slug: 'about', parent: 12 }, 'pages')).facts).toEqual({ child: true });
  });

  it('accepts a video as a link or as a player’s markup', async () => {
    const video = (video_url: unknown) => take({ acf: { video_url } }, 'video').then(({ facts }) => facts);
    expect(await video('https://youtu.be/aqz-KE-bpKQ?t=3')).toMatchObject({ providerId: 'aqz-KE-bpKQ' });
    expect(
      await video('<iframe src="https://www.youtube.com/embed/aqz-KE-bpKQ?feature=oembed&amp;x=1"></iframe>'),
    ).toEqual({
      videoUrl: 'https://www.youtube.com/embed/aqz-KE-bpKQ?feature=oembed&x=1',
      providerId: 'aqz-KE-bpKQ',
    });
    for (const none of [null, false, '', 'javascript:alert(1)', 'not a link'])
      expect(await video(none)).toEqual({ videoUrl: '', providerId: null });
    expect(await video('https://vimeo.com/1')).toEqual({ videoUrl: 'https://vimeo.com/1', providerId: null });
  });

  it('accepts the first address in a crossword’s markup, if its host may be framed', async () => {
    const frame = (iframe: unknown) => take({ acf: { iframe } }, 'crosswords').then(({ facts }) => facts.iframeSrc);
    expect(
      await frame(
        '<iframe width="1" src="http://127.0.0.1:8836/crosswords/3?a=1&amp;b=2"></iframe><script src="https://b.example"></script>',
      ),
    ).toBe('http://127.0.0.1:8836/crosswords/3?a=1&b=2');
    expect(await frame('<iframe src="https://evil.example/x"></iframe>')).toBe('');
    expect(await frame(null)).toBe('');
  });
});

describe('ingest of invalid or unpublished documents', () => {
  it('rejects a document and names the wrong field and value', async () => {
    expect(await wrong({ access: 'gold' })).toMatchObject({
      id: 1,
      field: 'access',
      value: '"gold"',
      modified: '2026-11-20T12:00:00Z',
    });
    expect(await wrong({ title: null })).toMatchObject({ field: 'title', value: 'null' });
    expect(await wrong({ date_gmt: '2026-02-30T00:00:00' })).toMatchObject({ field: 'date_gmt' });
    expect(await wrong({ acf: { author: { id: 'x' } } })).toMatchObject({ field: 'acf.author', value: '{"id":"x"}' });
    expect(await wrong({ category: ['x'] })).toMatchObject({ field: 'category' });
    expect(await wrong({ slug: '' })).toMatchObject({ field: 'slug' });
    expect(await wrong({ slug: 'top-stories-2', acf: { top_articles: ['x'] } }, 'pages')).toMatchObject({
      id: 1,
      field: 'acf.top_articles',
    });
    expect(await ingestDocument(sanitizer, 'articles', 'text', context)).toMatchObject({
      kind: 'rejected',
      rejection: { id: 0 },
    });
    expect(await ingestDocument(sanitizer, 'articles', null, context)).toMatchObject({ kind: 'rejected' });
  });

  it('withholds drafts, private, scheduled and password-protected documents', async () => {
    for (const part of [
      { status: 'draft' },
      { status: 'private' },
      { status: 'future' },
      { content: { rendered: '', protected: true } },
    ]) {
      expect(await wrong(part)).toBe('withheld');
    }
  });

  it('never throws, whatever the input is', async () => {
    const odd = { ...wirePost({ id: 1 }), id: { toString: 0 } };
    expect((await ingestDocument(sanitizer, 'articles', odd, context)).kind).toBe('rejected');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<DocumentType>('articles', 'video', 'crosswords', 'authors', 'pages'),
        fc.dictionary(fc.constantFrom(...Object.keys(wirePost({ id: 1 }))), fc.jsonValue()),
        async (type, part) => {
          const result = await ingestDocument(sanitizer, type, { ...wirePost({ id: 1 }), ...part }, context);
          expect(['document', 'rejected', 'withheld']).toContain(result.kind);
        },
      ),
      { numRuns: runs(40, 1000) },
    );
  });
});

describe('plain text of a document', () => {
  it('is stripped of markup, decoded and cut at a word', async () => {
    const document = await take({
      title: { rendered: '<em>Harris &amp; Sons</em>&#8217;s\u202e plan 🗞️ <script>x</script>' },
      excerpt: { rendered: `<p>${'word '.repeat(100)}</p>` },
      image: { url: 'https://cms.example/a.jpg', alt: '"x" <b>y</b>', caption: '<a href="#">Cap</a>', credit: null },
    });
    expect(document.title).toBe('Harris & Sons’s plan 🗞️');
    expect([...document.excerpt].length).toBeLessThanOrEqual(300);
    expect(document.excerpt.endsWith('word…')).toBe(true);
    expect((await take({ excerpt: { rendered: '<p>By WordPress [&hellip;]</p>\n' } })).excerpt).toBe('By WordPress…');
    expect(document.image).toMatchObject({ alt: '"x" y', caption: 'Cap', credit: '', width: 800 });
  });
});

describe('comments', () => {
  it('keep only basic markup, and are withheld while on hold', () => {
    const raw = wireComment({
      id: 1,
      post: 2,
      author_name: 'A <b>B</b>',
      content: {
        rendered: '<p>x <a href="https://spam.example" onclick="x">y</a><img src=x> <code>c</code></p><h2>big</h2>',
      },
    });
    expect(ingestComment(sanitizer, raw, context)).toMatchObject({
      kind: 'document',
      document: {
        author: 'A B',
        contentHtml:
          '<p>x <a href="https://spam.example/" rel="nofollow ugc noopener noreferrer">y</a> <code>c</code></p><p>big</p>',
      },
    });
    expect(ingestComment(sanitizer, wireComment({ id: 1, post: 2, status: 'hold' }), context).kind).toBe('withheld');
    expect(ingestComment(sanitizer, wireComment({ id: 1, post: 2, date_gmt: 'x' }), context)).toMatchObject({
      kind: 'rejected',
      rejection: { field: 'date_gmt' },
    });
  });

  it('have emoji as text that WordPress shows as pictures, and no other pictures', () => {
    const emoji = '<img class="emoji" alt="🙂" src="https://s.w.org/images/core/emoji/17/svg/1f642.svg">';
    const smiley = '<img class="wp-smiley" alt=":mrgreen:" src="/wp-includes/images/smilies/mrgreen.png">';
    const rendered = `<p class="x">Hello ${emoji} <em class="y">world</em> ${smiley}<img src="/a.jpg" alt="A"></p><p>${emoji}</p>`;
    const taken = ingestComment(sanitizer, wireComment({ id: 1, post: 2, content: { rendered } }), context);
    expect(taken).toMatchObject({
      document: { contentHtml: '<p>Hello 🙂 <em>world</em> :mrgreen:</p><p>🙂</p>' },
    });
  });

  it('can’t lead to another site with an address of this one', () => {
    const rendered = '<p><a href="https://sun.example//evil.example/login">Sign in</a></p>';
    const taken = ingestComment(sanitizer, wireComment({ id: 1, post: 2, content: { rendered } }), context);
    expect(taken).toMatchObject({ document: { contentHtml: expect.stringContaining('href="/evil.example/login"') } });
  });

  it('keep a limited number of links, all marked nofollow', () => {
    const { links } = publication.comments;
    const addresses = [
      'https://spam.example/a',
      'https://cms.example/articles/one/',
      '#part',
      'mailto:a@spam.example',
      'https://spam.example/b',
    ];
    const rendered = addresses.map((href, at) => `<p><a href="${href}" rel="follow">word ${at}</a></p>`).join('');
    // A link without words isn't shown, and doesn't take the place of one that is.
    const raw = wireComment({
      id: 1,
      post: 2,
      content: { rendered: `<a href="https://spam.example/c"> </a>${rendered}` },
    });
    const taken = ingestComment(sanitizer, raw, context);
    const contentHtml = taken.kind === 'document' ? taken.document.contentHtml : '';
    const { body } = new JSDOM(contentHtml).window.document;
    const live = [...body.querySelectorAll('a')];
    expect(live.map(({ textContent }) => textContent)).toEqual(addresses.slice(0, links).map((_, at) => `word ${at}`));
    for (const link of live)
      expect(link.getAttribute('rel')?.split(' ')).toEqual(expect.arrayContaining(['nofollow', 'ugc', 'noopener']));
    expect([...body.querySelectorAll('p')].map(({ textContent }) => textContent)).toEqual(
      addresses.map((_, at) => `word ${at}`),
    );
  });
});
