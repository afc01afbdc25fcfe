import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { describe, expect, it } from 'vitest';
import { type Json, wireComment, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { runs } from '../../../tests/world/runs.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { countWords } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import type { IngestedDocument } from './document.ts';
import { type IngestContext, ingestComment, ingestDocument } from './ingest.server.ts';
import { createSanitizer } from './sanitize.server.ts';

const sanitizer = createSanitizer();
const measured: string[] = [];
const context: IngestContext = {
  wordpress: 'https://cms.example',
  site: 'https://sun.example',
  frameHosts: ['www.youtube.com', 'www.youtube-nocookie.com', 'player.vimeo.com', '127.0.0.1:8836'],
  measure: async (url) => {
    measured.push(url);
    return url.includes('elsewhere') ? null : { width: 800, height: 600 };
  },
};

async function take(part: Json = {}, type: DocumentType = 'articles'): Promise<IngestedDocument> {
  const result = await ingestDocument(
    sanitizer,
    type,
    wirePost({ id: 1, link: 'https://cms.example/articles/one/', ...part }),
    context,
  );
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document;
}
const body = async (rendered: string): Promise<string> => (await take({ content: { rendered } })).bodyHtml;
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
    expect((await take({ slug: 'about' }, 'pages')).topStories).toBeNull();
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

describe('an article’s body', () => {
  it('keeps meaningful markup, and loses styles, unknown classes and empty paragraphs', async () => {
    expect(
      await body(
        '<!-- wp:paragraph --><p class="x has-text-align-center" style="color:red">A <span>b</span></p><p>&nbsp;</p><p><br></p>loose <b>text</b>',
      ),
    ).toBe('<p class="has-text-align-center">A b</p><p>loose <b>text</b></p>');
    expect(await body('<p style="text-align: right; color: red">x</p>')).toBe('<p class="has-text-align-right">x</p>');
    expect(await body('<p class="has-drop-cap has-red-color">x</p>')).toBe('<p class="has-drop-cap">x</p>');
    expect(await body('<blockquote class="is-style-large is-style-x columns-2 columns-9"><p>x</p></blockquote>')).toBe(
      '<blockquote class="is-style-large columns-2"><p>x</p></blockquote>',
    );
  });

  it('has headings that start at h2 and skip no level', async () => {
    expect(await body('<h1>a</h1><h4>b</h4><h6>c</h6><h2>d</h2>')).toBe('<h2>a</h2><h3>b</h3><h4>c</h4><h3>d</h3>');
    expect(await body('<h4 id="x">a</h4>')).toBe('<h2 id="user-content-x">a</h2>');
  });

  it('links to the site’s own pages instead of WordPress, and not to sign-in or admin pages', async () => {
    const html = await body(
      [
        '<a href="https://cms.example/articles/two/#part">article</a>',
        '<a href="/video/film/">video</a>',
        '<a href="https://cms.example/?articles=three">plain</a>',
        '<a href="https://cms.example/category/world/politics/">section</a>',
        '<a href="https://cms.example/authors/ada">author</a>',
        '<a href="https://sun.example/about?x=1">own</a>',
        '<a href="https://other.example/x" target="_blank" onclick="x">other</a>',
        '<a href="mailto:a@b.example">mail</a>',
        '<a href="https://cms.example/wp-content/uploads/report.pdf">file</a>',
        '<a href="https://cms.example/company/masthead/">a page below a page</a>',
        '<a href="https://cms.example/tag/budget/">tag</a>',
        '<a href="https://cms.example/?p=12#note">id</a>',
        '<a href="https://cms.example/wp-login.php?action=logout&amp;_wpnonce=1a2b">log out</a>',
        '<a href="/wp-admin/profile.php">profile</a>',
        '<a href="https://cms.example/?replytocom=5&amp;_wpnonce=1">reply</a>',
        '<a href="https://user:pass@other.example/">secret</a>',
        '<a href="#">top</a>',
      ].join(' '),
    );
    const links = [...new JSDOM(html).window.document.querySelectorAll('a')].map((link) => [
      link.getAttribute('href'),
      link.getAttribute('rel'),
      link.getAttribute('data-wordpress'),
    ]);
    const outside = 'noopener noreferrer';
    const same = (href: string) => [href, null, href];
    expect(links).toEqual([
      ['/article/two#part', null, 'https://cms.example/articles/two/#part'],
      ['/media/film', null, 'https://cms.example/video/film/'],
      ['/article/three', null, 'https://cms.example/?articles=three'],
      ['/section/politics', null, 'https://cms.example/category/world/politics/'],
      ['/author/ada', null, 'https://cms.example/authors/ada'],
      ['/about?x=1', null, null],
      ['https://other.example/x', outside, null],
      ['mailto:a@b.example', null, null],
      ['https://cms.example/wp-content/uploads/report.pdf', outside, null],
      ['/masthead', null, 'https://cms.example/company/masthead/'],
      same('https://cms.example/tag/budget/'),
      same('https://cms.example/?p=12#note'),
      ['https://other.example/', outside, null],
    ]);
    // Sign-in pages, nonces and wp-admin aren't for readers.
    expect(html).toMatch(/log out/);
    expect(html).not.toMatch(/_wpnonce|wp-admin|wp-login/);
  });

  it('keeps footnote links working, with IDs that can’t clash', async () => {
    const html = await body(
      '<p>x<sup><a href="#abc" id="abc-link">1</a></sup></p><ol><li id="abc">Note <a href="#abc-link">↩</a></li></ol>',
    );
    const { document } = new JSDOM(html).window;
    for (const link of document.querySelectorAll('a'))
      expect(document.querySelector(link.getAttribute('href') ?? ''), html).not.toBeNull();
    expect(document.querySelector('[id="abc"]')).toBeNull();
  });

  it('shows allowed players on request, and only a link for others', async () => {
    const html = await body(
      '<figure class="wp-block-embed"><div class="wp-block-embed__wrapper"><iframe title="A film" src="https://www.youtube.com/embed/aqz-KE-bpKQ?feature=oembed"></iframe></div><figcaption>Words</figcaption></figure><p><iframe src="https://evil.example/x"></iframe></p>',
    );
    const { document } = new JSDOM(html).window;
    const shell = document.querySelector('figure.embed-youtube');
    expect({ ...(shell as HTMLElement).dataset }).toEqual({
      embedSrc: 'https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ',
      embedProvider: 'YouTube',
      embedTitle: 'A film',
    });
    expect(shell?.querySelector('a')?.getAttribute('href')).toBe('https://www.youtube.com/watch?v=aqz-KE-bpKQ');
    expect(shell?.querySelector('a')?.textContent).toBe('Watch on YouTube');
    expect(shell?.querySelector('figcaption')?.textContent).toBe('Words');
    expect(document.querySelector('iframe')).toBeNull();
    expect(html).toContain('<p><a href="https://evil.example/x" rel="noopener noreferrer">evil.example</a></p>');
  });

  it('turns a video address into a player only where it is alone in a paragraph', async () => {
    const address = 'https://www.youtube.com/watch?v=aqz-KE-bpKQ';
    for (const alone of [address, ` ${address}\n`, `<a href="${address}">${address}</a>`]) {
      const html = await body(`<p>Before.</p><p>${alone}</p><p>After.</p>`);
      expect(html).toContain('data-embed-src="https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ"');
      expect(html.match(/<p>/gu)).toHaveLength(2);
    }
    const others = [
      `<p>See ${address}</p>`,
      `<p><a href="${address}">the film</a></p>`,
      '<p>https://evil.example/embed/aqz-KE-bpKQ</p>',
      `<blockquote><p>${address}</p></blockquote>`,
    ];
    for (const other of others) expect(await body(other)).not.toContain('data-embed-src');
  });

  it('turns an address that WordPress couldn’t embed into a player, and a social post into a quotation', async () => {
    const html = await body(
      '<figure class="wp-block-embed"><div class="wp-block-embed__wrapper">\nhttps://vimeo.com/76979871\n</div></figure><blockquote class="twitter-tweet"><p>Post</p><a href="https://x.com/a/status/1">Date</a></blockquote><script src="https://platform.x.com/widgets.js"></script>',
    );
    expect(html).toContain('data-embed-src="https://player.vimeo.com/video/76979871"');
    expect(html).toContain(
      '<blockquote><p>Post</p><a href="https://x.com/a/status/1" rel="noopener noreferrer">Date</a></blockquote>',
    );
    expect(html).not.toContain('script');
  });

  it('loads pictures through the site’s image path, with dimensions, and links to other images', async () => {
    const html = await body(
      '<figure class="wp-block-image alignwide"><a href="/up/a.jpg"><img src="/up/a-300x200.jpg" srcset="/up/a-300x200.jpg 300w, /up/a.jpg 1500w" width="300" height="200" alt="An &lt;x&gt;"></a><figcaption>Cap</figcaption></figure>',
    );
    const image = new JSDOM(html).window.document.querySelector('figure.wp-block-image.alignwide > img');
    expect(image?.getAttribute('src')).toBe('/image?url=https%3A%2F%2Fcms.example%2Fup%2Fa.jpg&width=1080&quality=75');
    expect(image?.getAttribute('srcset')).toContain('width=1920');
    expect(image?.getAttribute('srcset')).not.toContain('width=2048');
    expect([
      image?.getAttribute('width'),
      image?.getAttribute('height'),
      image?.getAttribute('loading'),
      image?.getAttribute('alt'),
    ]).toEqual(['1500', '1000', 'lazy', 'An <x>']);
    measured.length = 0;
    expect(await body('<p><img src="b.png"></p>')).toContain('width="800" height="600"');
    expect(measured).toEqual(['https://cms.example/articles/one/b.png']);
    expect(
      await body(
        '<p>x</p><img src="data:image/png;base64,AA"><figure><img src="/a.svg"><figcaption>c</figcaption></figure>',
      ),
    ).toBe('<p>x</p>');
    expect(await body('<p><img src="https://elsewhere.example/c.jpg" alt="C" width="2" height="2"></p>')).toBe(
      '<p><a href="https://elsewhere.example/c.jpg" rel="noopener noreferrer">C</a></p>',
    );
    // Even on WordPress's own host, a file that isn't a picture is never shown as one.
    expect(await body('<p><img src="/elsewhere/x" alt="X"></p>')).toBe(
      '<p><a href="https://cms.example/elsewhere/x" rel="noopener noreferrer">X</a></p>',
    );
  });

  it('has scrollable tables, and dir="auto" on right-to-left text', async () => {
    expect(
      await body('<figure class="wp-block-table"><table><tbody><tr><td>1</td></tr></tbody></table></figure>'),
    ).toBe(
      '<figure class="wp-block-table"><div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table><tbody><tr><td>1</td></tr></tbody></table></div></figure>',
    );
    expect(await body('<p>שלום</p><p>Hello</p>')).toBe('<p dir="auto">שלום</p><p>Hello</p>');
  });
});

it('the sanitizer’s second pass removes unsafe markup that transforms might have added', () => {
  const made =
    '<p name="a" style="color:red" onclick="b()" class="c">d<script>e</script><iframe src="https://f.example"></iframe></p>';
  expect(sanitizer.finish(made, true)).toBe('<p class="c">d</p>');
});

describe('the free opening of an article', () => {
  const paragraph = (words: number): string =>
    `<p>${Array.from({ length: words }, (_, index) => `word${index}`).join(' ')}</p>`;
  const text = (html: string): string => new JSDOM(html).window.document.body.textContent ?? '';

  it('ends between paragraphs, before it exceeds 100 words', async () => {
    const { openingHtml } = await take({
      content: { rendered: paragraph(30) + paragraph(40) + paragraph(50) + paragraph(300) },
    });
    expect(openingHtml.match(/<p>/gu)).toHaveLength(2);
    expect(countWords(text(openingHtml.replaceAll('</p>', '</p> ')))).toBe(70);
  });

  it('has at most three paragraphs, not counting headings', async () => {
    const rendered = `${paragraph(5)}<h2>One two</h2>${paragraph(6)}${paragraph(7)}${paragraph(8)}${paragraph(300)}`;
    const { openingHtml } = await take({ content: { rendered } });
    expect(countWords(text(openingHtml.replaceAll('</', ' </')))).toBe(5 + 2 + 6 + 7);
  });

  it('may have exactly 100 words, and does not end with a heading', async () => {
    const { openingHtml } = await take({ content: { rendered: `${paragraph(100)}<h2></h2>${paragraph(300)}` } });
    expect(countWords(text(openingHtml))).toBe(100);
    const headed = await take({ content: { rendered: `${paragraph(20)}<h2>One</h2>${paragraph(300)}` } });
    expect(countWords(text(headed.openingHtml))).toBe(20);
  });

  it.each(['<p><a id="top"></a></p>', '<p id="top"></p>', '<h2>One</h2><p id="top"></p>'])(
    'contains words of the story when the body begins with %s',
    async (start) => {
      const { openingHtml } = await take({ content: { rendered: start + paragraph(300) } });
      expect(countWords(text(openingHtml))).toBe(100);
    },
  );

  it('never exceeds 100 words or a third of the body', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }), async (lengths) => {
        const document = await take({ access: 'subscriber', content: { rendered: lengths.map(paragraph).join('') } });
        const words = countWords(text(document.openingHtml.replaceAll('</p>', '</p> ')));
        expect(words).toBeLessThanOrEqual(100);
        expect(words).toBeLessThanOrEqual((document.facts.words ?? 0) / 3);
      }),
      { numRuns: runs(20, 300) },
    );
  });

  it('is all that search indexes of an article for registered readers or subscribers', async () => {
    const rendered = `${paragraph(30)}${paragraph(200)}<p>secretword</p>`;
    expect((await take({ access: 'subscriber', content: { rendered } })).searchText).not.toContain('secretword');
    expect((await take({ access: 'registered', content: { rendered } })).searchText).not.toContain('secretword');
    expect((await take({ access: 'free', content: { rendered } })).searchText).toContain('secretword');
  });

  it('is the whole body when WordPress has already cut it', async () => {
    const document = await take({ access: 'subscriber', restricted: true, content: { rendered: paragraph(50) } });
    expect(document.openingHtml).toBe(document.bodyHtml);
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
