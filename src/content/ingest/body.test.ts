import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { describe, expect, it } from 'vitest';
import { wirePost } from '../../../tests/fixtures/wordpress.ts';
import { body, context, measured, sanitizer, take } from '../../../tests/world/ingest.ts';
import { runs } from '../../../tests/world/runs.ts';
import { countWords } from '../../lib/text.ts';
import { ingestDocument } from './ingest.server.ts';

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
      ['/article/two#user-content-part', null, 'https://cms.example/articles/two/#part'],
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

  it('has links by full address that reach its headings', async () => {
    const html = await body('<h2 id="h-part">Part</h2><p><a href="https://cms.example/articles/one/#h-part">x</a></p>');
    const { document } = new JSDOM(html).window;
    const { pathname, hash } = new URL(document.querySelector('a')?.getAttribute('href') ?? '', 'https://sun.example');
    expect([pathname, document.querySelector('h2')?.id]).toEqual(['/article/one', hash.slice(1)]);
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

  it('shows two players of one paragraph in their order', async () => {
    const films = [1, 2, 3].map((id) => `<iframe src="https://player.vimeo.com/video/${id}"></iframe>`);
    const html = await body(`<p>Before. ${films.join(' ')}</p>`);
    expect(html.match(/data-embed-src="[^"]*"/gu)?.map((each) => each.replace(/\D/gu, ''))).toEqual(['1', '2', '3']);
    const links = await body(
      '<p>Listen: <audio src="https://a.example/a.mp3"></audio><audio src="https://b.example/b.mp3"></audio></p>',
    );
    expect(links.match(/href="[^"]*"/gu)).toEqual(['href="https://a.example/a.mp3"', 'href="https://b.example/b.mp3"']);
  });

  it('plays an unlisted Vimeo film, whose address has a hash, and links to the same address', async () => {
    for (const shown of [
      '<p>https://vimeo.com/76979871/8272103f6e</p>',
      '<iframe src="https://player.vimeo.com/video/76979871?h=8272103f6e"></iframe>',
    ]) {
      const html = await body(shown);
      expect(html).toContain('data-embed-src="https://player.vimeo.com/video/76979871?h=8272103f6e"');
      expect(html).toContain('href="https://vimeo.com/76979871/8272103f6e"');
    }
  });

  it('leads a link to a crossword to its own page, and an http link to the site or to WordPress', async () => {
    expect(await body('<p><a href="/crosswords/mini/">x</a> <a href="/?crosswords=mini">y</a></p>')).toBe(
      '<p><a href="/games/mini" data-wordpress="https://cms.example/crosswords/mini/">x</a> <a href="/games/mini" data-wordpress="https://cms.example/?crosswords=mini">y</a></p>',
    );
    expect(await body('<p><a href="http://cms.example/articles/two/">x</a></p>')).toContain('href="/article/two"');
    expect(await body('<p><a href="http://sun.example/about">x</a></p>')).toContain('href="/about"');
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

  it('shows no picture, frame or recording without an address', async () => {
    const media = '<img width="600" height="400" alt="A"><iframe></iframe><audio></audio><video><source></video>';
    expect(await body(`<p>Before</p>${media}<p>After</p>`)).toBe('<p>Before</p><p>After</p>');
    expect(await body('<p>Before</p><audio><source><source src="/a.mp3"></audio>')).toContain(
      'src="https://cms.example/a.mp3"',
    );
  });

  it('keeps a recording of a figure whose picture can’t be shown', async () => {
    expect(await body('<figure><img src="/a.svg"><audio src="/a.mp3"></audio></figure>')).toContain(
      'src="https://cms.example/a.mp3"',
    );
  });

  it('has emoji as text that were pasted as pictures', async () => {
    const emoji = '<img class="emoji" alt="🙂" src="https://s.w.org/images/core/emoji/17/svg/1f642.svg">';
    expect(await body(`<p>Hello ${emoji} world</p><p>${emoji}</p>`)).toBe('<p>Hello 🙂 world</p><p>🙂</p>');
    expect(
      await body('<p>No <img class="wp-smiley" alt=":&lt;" src="/wp-includes/images/smilies/frownie.png"></p>'),
    ).toBe('<p>No :&lt;</p>');
  });

  it('keeps pictures of an allowed host that doesn’t answer, if their size is stated', async () => {
    const failing = { ...context, mediaHosts: ['media.example'], measure: async () => null };
    const shown = async (rendered: string): Promise<string> => {
      const result = await ingestDocument(sanitizer, 'articles', wirePost({ id: 1, content: { rendered } }), failing);
      return result.kind === 'document' ? result.document.bodyHtml : '';
    };
    const picture = await shown('<p><img src="https://media.example/a.jpg" width="600" height="400" alt="A"></p>');
    expect(picture).toContain('<img');
    expect(picture).toContain('width="600" height="400"');
    expect(await shown('<p><img src="https://media.example/a.jpg" alt="A"></p>')).not.toContain('<img');
    expect(await shown('<p><img src="https://other.example/a.jpg" width="6" height="4"></p>')).not.toContain('<img');
  });

  it('has scrollable tables, and dir="auto" on right-to-left text', async () => {
    expect(
      await body('<figure class="wp-block-table"><table><tbody><tr><td>1</td></tr></tbody></table></figure>'),
    ).toBe(
      '<figure class="wp-block-table"><div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table><tbody><tr><td>1</td></tr></tbody></table></div></figure>',
    );
    expect(await body('<p>שלום</p><p>Hello</p>')).toBe('<p dir="auto">שלום</p><p>Hello</p>');
    // Adlam, whose letters are beyond the first 65,536 characters of Unicode.
    expect(await body('<p>\u{1e900}\u{1e901}</p>')).toBe('<p dir="auto">\u{1e900}\u{1e901}</p>');
  });
});

it('the sanitizer’s second pass removes unsafe markup that transforms might have added', () => {
  const made =
    '<p name="a" style="color:red" onclick="b()" class="c">d<script>e</script><iframe src="https://f.example"></iframe></p>';
  expect(sanitizer.finish(made, true)).toBe('<p class="c">d</p>');
});

describe('the free opening of an article', () => {
  const groups = ['section', 'aside', 'main', 'article', 'header', 'footer'].map(
    (name): [string, (text: string) => string] => [
      `a group as ${name}`,
      (text) => `<${name} class="wp-block-group">${text}</${name}>`,
    ],
  );
  const paragraph = (words: number): string =>
    `<p>${Array.from({ length: words }, (_, index) => `word${index}`).join(' ')}</p>`;
  const text = (html: string): string => new JSDOM(html).window.document.body.textContent ?? '';
  const picture = 'https://cms.example/wp-content/uploads/photo-essay';

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

  it.each([
    [
      'pictures of the classic editor',
      `<p><a href="${picture}-full.jpg" id="a"><img src="${picture}.jpg" alt=""></a></p>`,
    ],
    [
      'galleries',
      `<ul class="wp-block-gallery"><li><figure><img src="${picture}.jpg"><figcaption>A caption</figcaption></figure></li></ul>`,
    ],
    [
      'films in quotations',
      '<blockquote><iframe src="https://player.vimeo.com/video/76979871?h=8272103f6e"></iframe></blockquote>',
    ],
    ['pictures between words', `<p>See <a href="${picture}-full.jpg"><img src="${picture}.jpg" alt=""></a> here</p>`],
  ])('shows only words: it has no %s', async (_, block) => {
    const { bodyHtml, openingHtml } = await take({
      content: { rendered: `${paragraph(30)}${block.repeat(8)}${paragraph(300)}` },
    });
    expect(openingHtml).toContain('word29');
    expect(openingHtml).not.toMatch(/<img|<figure|\/image\?|data-embed|76979871|photo-essay|A caption/u);
    expect(bodyHtml).toMatch(/\/image\?|data-embed-src/u);
  });

  it.each([
    ['a group', (text: string) => `<div class="wp-block-group">${text}</div>`],
    [
      'a group of an older WordPress',
      (text: string) => `<div class="wp-block-group"><div class="wp-block-group__inner-container">${text}</div></div>`,
    ],
    [
      'columns',
      (text: string) =>
        `<div class="wp-block-columns"><div class="wp-block-column">${text}</div><div class="wp-block-column"></div></div>`,
    ],
    ...groups,
  ])('is the same when the story is in %s', async (_, wrapped) => {
    const taken = (rendered: string) => take({ access: 'subscriber', content: { rendered } });
    for (const story of [paragraph(40).repeat(6), paragraph(600)]) {
      const flat = await taken(story);
      const { openingHtml, searchText } = await taken(wrapped(story));
      expect(countWords(text(openingHtml.replaceAll('</p>', '</p> ')))).toBeGreaterThan(79);
      expect([openingHtml, searchText]).toEqual([flat.openingHtml, flat.searchText]);
    }
  });

  it('has words of a story in an aside that has a heading outside', async () => {
    const { openingHtml } = await take({ content: { rendered: `<h2>One</h2><aside>${paragraph(300)}</aside>` } });
    expect(countWords(text(openingHtml))).toBe(100);
  });

  it('has no words of an aside if the story has others', async () => {
    const { openingHtml } = await take({
      content: { rendered: `<aside><p>In short</p></aside>${paragraph(30)}${paragraph(300)}` },
    });
    expect(openingHtml).toBe(paragraph(30));
  });

  it('has no pictures, recordings and frames of a group, and no links that replace them', async () => {
    const media = [
      `<figure class="wp-block-image"><img src="${picture}.jpg"><figcaption>A caption</figcaption></figure>`,
      `<p><img src="${picture}.jpg"></p>`,
      '<p><img src="https://elsewhere.example/photo-essay.jpg" alt="A caption"></p>',
      '<p><audio src="https://elsewhere.example/photo-essay.mp3"></audio></p>',
      '<iframe src="https://elsewhere.example/photo-essay"></iframe>',
      '<p><iframe src="https://player.vimeo.com/video/76979871?h=8272103f6e"></iframe></p>',
    ].join('');
    for (const start of [media, `<div class="wp-block-group">${media}</div>`]) {
      const rendered = start + paragraph(30) + paragraph(300);
      const { openingHtml } = await take({ content: { rendered } });
      expect(openingHtml).toBe(paragraph(30));
    }
  });

  it.each([
    ['a picture', '<p>See <img src="https://elsewhere.example/photo-essay.jpg" alt="A caption"> here</p>'],
    [
      'a linked picture',
      `<p>See <a href="${picture}.jpg"><img src="https://elsewhere.example/a.jpg" alt="A caption"></a> here</p>`,
    ],
    ['a frame', '<ul><li>See <iframe src="https://elsewhere.example/photo-essay"></iframe> here</li></ul>'],
    [
      'a recording',
      '<blockquote>See <audio src="https://elsewhere.example/photo-essay.mp3"></audio> here</blockquote>',
    ],
  ])('has no link to %s between words that the site can’t show', async (_, block) => {
    const { bodyHtml, openingHtml } = await take({ content: { rendered: block + paragraph(300) } });
    expect(bodyHtml).toContain('photo-essay');
    expect(openingHtml).toContain('See');
    expect(openingHtml).not.toMatch(/href|photo-essay|A caption/u);
  });

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

  it.each([
    ['nine, of which three long ones come first', [300, 300, 300, 40, 40, 40, 40, 40, 40]],
    ['three, of which a long one comes first', [600, 20, 20]],
    ['nine short ones', [40, 40, 40, 40, 40, 40, 40, 40, 40]],
  ])('has at most a third of the characters in a language without spaces: paragraphs are %s', async (_, lengths) => {
    const rendered = lengths.map((length) => `<p>${'字'.repeat(length - 1)}。</p>`).join('');
    const { openingHtml, searchText } = await take({ access: 'subscriber', content: { rendered } });
    // A text has a space between two paragraphs.
    const all = lengths.reduce((sum, length) => sum + 1 + length, -1);
    for (const shown of [text(openingHtml).trim(), searchText]) {
      expect(shown.length).toBeGreaterThanOrEqual(82);
      expect(shown.length).toBeLessThanOrEqual(all / 3);
    }
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
