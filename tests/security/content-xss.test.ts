/**
 * No hostile input survives ingest, in any field of any type: every payload of the collection, alone, cut, nested and
 * concatenated, is stored in a content store, and what a page would read is parsed twice.
 */
import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { IngestContext } from '../../src/content/ingest/ingest.server.ts';
import { ingestComment, ingestDocument } from '../../src/content/ingest/ingest.server.ts';
import { createSanitizer } from '../../src/content/ingest/sanitize.server.ts';
import { type ContentStore, openContentStore } from '../../src/content/store/content-store.server.ts';
import { createReader } from '../../src/content/store/reader.server.ts';
import { storeDocument } from '../../src/content/store/write.server.ts';
import type { DocumentType, Picture } from '../../src/lib/content/model.ts';
import { silent } from '../../src/lib/logging.ts';
import { fakeWordPress, type Json, wireComment, wirePost, wireSection } from '../fixtures/wordpress.ts';
import { xssPayloads } from '../fixtures/xss.ts';
import { runs } from '../world/runs.ts';

const frameHosts = ['www.youtube.com', 'www.youtube-nocookie.com'];
const context: IngestContext = {
  wordpress: 'http://127.0.0.1:8832',
  site: 'http://127.0.0.1:8833',
  frameHosts,
  measure: async () => ({ width: 800, height: 600 }),
};

const elements = new Set(
  `p br hr wbr h2 h3 h4 h5 h6 div section aside blockquote pre ul ol li dl dt dd figure figcaption details summary
   table caption colgroup col thead tbody tfoot tr th td a em strong b i u s del ins mark small sub sup span cite q
   code kbd samp var abbr dfn time bdi bdo ruby rt rp img audio video source track`.split(/\s+/u),
);
const attributes = new Set(
  `href src srcset sizes alt title width height id class datetime lang dir colspan rowspan scope span start reversed type value
   open aria-label role tabindex rel loading decoding data-embed-src data-embed-provider data-embed-title`.split(
    /\s+/u,
  ),
);

/** Formulas: MathML Core, without links, colors and annotations. */
const mathNamespace = 'http://www.w3.org/1998/Math/MathML';
const ofFormulas = new Set(
  `math merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup
   msup mtable mtd mtext mtr munder munderover none semantics`.split(/\s+/u),
);
const formulaAttributes = new Set(
  `accent accentunder alttext columnspan depth dir display displaystyle fence form height largeop linethickness lspace mathvariant
   maxsize minsize movablelimits rowspan rspace scriptlevel separator stretchy symmetric voffset width`.split(/\s+/u),
);

/** A formula contains MathML and text, and no other markup at any depth. */
function formulaProblems(element: Element): string[] {
  const problems: string[] = [];
  if (!ofFormulas.has(element.localName)) problems.push(`in a formula: ${element.localName}`);
  for (const { name } of element.attributes) if (!formulaAttributes.has(name)) problems.push(`attribute ${name}`);
  for (const child of element.children) if (child.namespaceURI !== mathNamespace) problems.push(`HTML in a formula`);
  return problems;
}

/** Attributes that only players may have. */
const ofPlayers = new Set('controls preload poster loop kind srclang label default'.split(' '));

/** A player loads only from WordPress, and its captions are text in the page. */
function playerProblems(element: Element, name: string, value: string): string[] {
  if (name === 'src') {
    const own =
      element.localName === 'track'
        ? value.startsWith('data:text/vtt;base64,')
        : value.startsWith(`${context.wordpress}/`);
    return own ? [] : [`player ${value}`];
  }
  if (name === 'poster') return value.startsWith('/image?url=http') ? [] : [`poster ${value}`];
  return attributes.has(name) || ofPlayers.has(name) ? [] : [`attribute ${name}=${value}`];
}

/** A browser's two views of markup: with scripts off, and on (then `noscript` contains text). */
const views = [new JSDOM(''), new JSDOM('', { runScripts: 'outside-only' })].map(({ window }) => window.document);

function problemsIn(html: string): string[] {
  const problems: string[] = [];
  for (const document of views) {
    let markup = html;
    // Parsed twice: mutating markup shows itself the second time.
    for (let pass = 0; pass < 2; pass++) {
      const holder = document.createElement('div');
      holder.innerHTML = markup;
      for (const element of holder.querySelectorAll('*')) problems.push(...elementProblems(element));
      markup = holder.innerHTML;
    }
  }
  return problems;
}

function elementProblems(element: Element): string[] {
  if (element.namespaceURI === mathNamespace) return formulaProblems(element);
  const problems: string[] = [];
  if (element.namespaceURI !== 'http://www.w3.org/1999/xhtml') problems.push(`foreign ${element.tagName}`);
  if (!elements.has(element.localName)) problems.push(`element ${element.localName}`);
  for (const { name, value } of element.attributes) {
    if (element.matches('audio, video, source, track')) {
      problems.push(...playerProblems(element, name, value));
      continue;
    }
    if (!attributes.has(name)) problems.push(`attribute ${name}=${value}`);
    if ((name === 'href' || name === 'src') && !/^(?:https?:\/\/|mailto:|tel:|\/(?!\/)|#)/u.test(value))
      problems.push(`${name}=${value}`);
    if (name === 'src' && !value.startsWith('/image?url=http')) problems.push(`src=${value}`);
    if (name === 'srcset' && !value.split(', ').every((each) => each.startsWith('/image?url=http')))
      problems.push(`srcset=${value}`);
    if (name === 'id' && !value.startsWith('user-content-')) problems.push(`id=${value}`);
    if (name === 'data-embed-src') {
      const { protocol, host } = new URL(value);
      if (protocol !== 'https:' || !frameHosts.includes(host)) problems.push(`frame ${value}`);
    }
    if (
      name === 'class' &&
      !value
        .split(' ')
        .every((each) =>
          /^(?:wp-block-[\w-]+|align\w+|has-text-align-\w+|has-drop-cap|is-style-(?:box|large|plain)|columns-[1-8]|embed|embed-[a-z]+|table-scroll)$/u.test(
            each,
          ),
        )
    ) {
      problems.push(`class=${value}`);
    }
  }
  return problems;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** Pages print it with these four characters escaped; then it must be only text. */
function plainProblems(text: string): string[] {
  const problems: string[] = [];
  if (unseen.test(text)) problems.push(`unseen character in ${JSON.stringify(text)}`);
  if (!text.isWellFormed()) problems.push('half a character');
  const holder = (views[0] as Document).createElement('div');
  holder.innerHTML = text.replace(/[&<>"]/gu, (character) => `&#${character.charCodeAt(0)};`);
  if (holder.children.length > 0 || holder.textContent !== text) problems.push('markup in plain text');
  return problems;
}

const pictureProblems = (picture: Picture | null): string[] =>
  picture === null
    ? []
    : [
        ...(/^https?:\/\//u.test(picture.url) ? [] : [`picture ${picture.url}`]),
        ...[picture.alt, picture.caption, picture.credit].flatMap(plainProblems),
      ];

const types: readonly DocumentType[] = ['articles', 'video', 'crosswords', 'authors', 'pages'];

/** A document with the payload in every field that may contain text. */
function hostile(type: DocumentType, id: number, payload: string): Json {
  const image = {
    id: 1,
    url: payload,
    alt: payload,
    width: payload,
    height: payload,
    caption: payload,
    credit: payload,
  };
  const shown = { ...image, url: `http://127.0.0.1:8832/${encodeURIComponent(payload.toWellFormed())}.jpg` };
  const author = { id: 9000, name: payload, slug: payload || 'x', excerpt: payload, image: shown };
  return wirePost({
    id,
    slug: payload || 'x',
    title: { rendered: payload },
    excerpt: { rendered: payload },
    content: { rendered: `<p>kept</p>${payload}<p>kept</p>` },
    link: payload,
    image: id % 2 === 0 ? image : shown,
    old_slugs: [payload],
    acf:
      type === 'authors' || type === 'pages' ? { anything: payload } : { author, video_url: payload, iframe: payload },
    byline: {
      authors: [author],
      contributors: [{ ...author, id: 78 }],
      agency: { name: payload, url: payload },
    },
    comment_status: payload,
  });
}

describe('hostile markup', { timeout: runs(120_000, 1_200_000) }, () => {
  const sanitizer = createSanitizer();
  let store: ContentStore;
  beforeAll(() => {
    store = openContentStore({ file: ':memory:', origin: null, log: silent });
  });
  afterAll(() => store.close());

  /** Ingests, stores, reads as a page does, and returns what is wrong with it. */
  async function survivors(type: DocumentType, payload: string): Promise<string[]> {
    const result = await ingestDocument(sanitizer, type, hostile(type, 1, payload), context);
    if (result.kind === 'rejected')
      return result.rejection.field === 'slug' ? [] : [`rejected: ${result.rejection.field}`];
    if (result.kind !== 'document') return ['withheld'];
    const { document } = result;
    storeDocument(store, document, { at: ++clock, clock: 0 });
    const reader = createReader(store);
    const plain: string[] = [];
    const html: string[] = [];
    const pictures: (Picture | null)[] = [];
    const found: string[] = [];
    if (type === 'articles') {
      const article = reader.article(document.slug);
      if (!article) return ['lost'];
      html.push(article.bodyHtml, article.openingHtml);
      plain.push(
        article.title,
        article.excerpt,
        ...article.byline.authors.flatMap(({ name, excerpt }) => [name, excerpt]),
        ...article.byline.contributors.map(({ name }) => name),
        article.byline.agency?.name ?? '',
        article.slug,
      );
      pictures.push(article.image, ...article.byline.authors.map(({ image }) => image));
      if (!/^[\w%.!~*'()-]+$/u.test(article.slug)) found.push(`slug ${article.slug}`);
      const address = article.byline.agency?.url ?? '';
      if (!/^(?:https?:\/\/|$)/u.test(address)) found.push(`agency ${address}`);
    } else if (type === 'video') {
      const video = reader.video(document.slug);
      if (!video) return ['lost'];
      html.push(video.bodyHtml);
      plain.push(video.title, video.excerpt);
      pictures.push(video.image);
      if (video.video.url !== '' && !/^https?:\/\//u.test(video.video.url)) found.push(`video ${video.video.url}`);
      if (video.video.providerId !== null && !/^[\w-]{11}$/u.test(video.video.providerId))
        found.push(`video id ${video.video.providerId}`);
    } else if (type === 'crosswords') {
      const crossword = reader.crossword(document.slug);
      if (!crossword) return ['lost'];
      plain.push(crossword.title, crossword.author?.name ?? '');
      if (crossword.iframeSrc !== '' && !frameHosts.includes(new URL(crossword.iframeSrc).host))
        found.push(`frame ${crossword.iframeSrc}`);
    } else if (type === 'authors') {
      const author = reader.author(document.slug);
      if (!author) return ['lost'];
      plain.push(author.name, author.excerpt);
      pictures.push(author.image);
    } else {
      const page = reader.page(document.slug);
      if (!page) return ['lost'];
      html.push(page.bodyHtml);
      plain.push(page.title, page.excerpt);
      pictures.push(page.image);
    }
    for (const markup of html) found.push(...problemsIn(markup));
    if (html[0] !== undefined && !html[0].includes('kept')) found.push('the rest of the body was lost');
    found.push(...plain.flatMap(plainProblems), ...pictures.flatMap(pictureProblems));
    store.prepare('DELETE FROM documents').run();
    return found;
  }
  let clock = Date.now();

  function commentSurvivors(payload: string): string[] {
    const raw = wireComment({ id: 1, post: 1, author_name: payload, content: { rendered: payload } });
    const result = ingestComment(sanitizer, raw, context);
    if (result.kind !== 'document') return ['not taken'];
    const few = new Set(['p', 'br', 'a', 'em', 'strong', 'blockquote', 'code']);
    const holder = (views[0] as Document).createElement('div');
    holder.innerHTML = result.document.contentHtml;
    const others = [...holder.querySelectorAll('*')]
      .filter((element) => !few.has(element.localName))
      .map((element) => `comment ${element.localName}`);
    return [...problemsIn(result.document.contentHtml), ...plainProblems(result.document.author), ...others];
  }

  it('is tested with at least 150 distinct payloads', () => {
    expect(new Set(xssPayloads).size).toBe(xssPayloads.length);
    expect(xssPayloads.length).toBeGreaterThanOrEqual(150);
  });

  it('is found by the test’s own check if it is not sanitized', () => {
    expect(problemsIn('<img src="/image?url=http" onerror="alert(1)">')).not.toEqual([]);
    expect(problemsIn('<a href="javascript:alert(1)">x</a>')).not.toEqual([]);
    expect(problemsIn('<iframe src="https://www.youtube.com"></iframe>')).not.toEqual([]);
    expect(problemsIn('<svg></svg>')).not.toEqual([]);
    expect(problemsIn('<math><mi href="https://evil.example">x</mi></math>')).not.toEqual([]);
    expect(problemsIn('<math><mtext><b>x</b></mtext></math>')).not.toEqual([]);
    expect(problemsIn('<math><annotation-xml></annotation-xml></math>')).not.toEqual([]);
    expect(problemsIn('<video src="https://evil.example/x.mp4"></video>')).not.toEqual([]);
    expect(problemsIn('<video autoplay></video>')).not.toEqual([]);
    expect(problemsIn('<video><track src="data:text/html,x"></video>')).not.toEqual([]);
    expect(problemsIn('<p style="x">x</p>')).not.toEqual([]);
    expect(plainProblems('\u202eabc')).not.toEqual([]);
    const seen = xssPayloads.filter((payload) => problemsIn(payload).length > 0);
    // The other payloads are harmless unchanged: text, comments, or cut off before they could do anything.
    expect(seen.length).toBeGreaterThan(xssPayloads.length * 0.9);
  });

  it.each(types)('is removed from %s, for each payload by itself', async (type) => {
    for (const payload of xssPayloads) expect(await survivors(type, payload), payload).toEqual([]);
  });

  it('is removed from comments', () => {
    for (const payload of xssPayloads) expect(commentSurvivors(payload), payload).toEqual([]);
  });

  it('is removed when payloads are joined, nested, cut or wrapped', async () => {
    const payload = fc.constantFrom(...xssPayloads);
    const wrapper = fc.constantFrom(
      'div',
      'p',
      'table',
      'td',
      'svg',
      'math',
      'mtext',
      'style',
      'noscript',
      'template',
      'select',
      'form',
      'a',
      'li',
      'figure',
      'iframe',
      'title',
      'xmp',
    );
    const piece = fc.oneof(
      payload,
      fc
        .tuple(payload, fc.nat(200), fc.nat(200))
        .map(([text, from, to]) => text.slice(Math.min(from, to), Math.max(from, to))),
      fc.tuple(wrapper, payload).map(([name, text]) => `<${name}>${text}</${name}>`),
      fc.tuple(wrapper, payload).map(([name, text]) => `<${name} title="${text}">`),
      fc.string({ unit: 'binary' }),
    );
    const markup = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...types), markup, async (type, text) => {
        expect(await survivors(type, text)).toEqual([]);
        expect(commentSurvivors(text)).toEqual([]);
      }),
      {
        numRuns: runs(60, 1000),
        // Found by a random run: an address on an element that has none, in a comment.
        examples: [['articles', '<p title="<link rel="prefetch" href="//evil.example">">']],
      },
    );
  });

  it('does not reappear when the stored HTML is sanitized again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...xssPayloads), { minLength: 1, maxLength: 3 }), async (payloads) => {
        const first = await ingestDocument(
          sanitizer,
          'pages',
          wirePost({ id: 1, content: { rendered: payloads.join('') } }),
          context,
        );
        if (first.kind !== 'document') throw new Error(first.kind);
        // Stored content passes through the sanitizer again unchanged: nothing is left to remove.
        const again = sanitizer.finish(first.document.bodyHtml, true);
        // The content store keeps a link's original WordPress address, which is removed when a page is rendered
        // (body-links.ts).
        expect(problemsIn(again.replaceAll(/ data-wordpress="https?:\/\/[^"]*"/gu, ''))).toEqual([]);
      }),
      {
        numRuns: runs(30, 500),
        // Found by a random run: a link to an address of WordPress's own.
        examples: [[['<a href="x">a</a>']]],
      },
    );
  });

  it('is removed from sections and menus', async () => {
    const wordpress = fakeWordPress(context.wordpress);
    xssPayloads.forEach((payload, index) => {
      const id = index + 1;
      const newsroom = {
        label: payload,
        navigation_position: id,
        home_count: 3,
        color: payload,
        show_in_media: payload === '1',
      };
      wordpress.put('categories', { ...wireSection(id, `s-${id}`, id), id, name: payload, newsroom });
    });
    wordpress.menus = [
      {
        location: 'footer',
        items: xssPayloads.flatMap((payload) => [
          { title: payload, url: payload },
          { title: payload, url: '/about' },
        ]),
      },
    ];
    const content = openContent({
      file: ':memory:',
      wordpress: { url: context.wordpress },
      siteUrl: context.site,
      frameHosts,
      threads: false,
      measure: async () => null,
      log: silent,
      pollSeconds: 60,
      fetch: wordpress.fetch,
    });
    const report = await content.syncNow();
    expect(report.problem).toBeNull();
    const reader = content.reader();
    expect(reader.sections().length).toBeGreaterThan(200);
    for (const section of reader.sections()) {
      expect([...plainProblems(section.name), ...plainProblems(section.label)]).toEqual([]);
      expect(['default', 'red']).toContain(section.color);
    }
    expect(reader.menu('footer').length).toBeGreaterThan(100);
    for (const { title, href } of reader.menu('footer')) {
      expect(plainProblems(title)).toEqual([]);
      expect(href).toMatch(/^(?:https?:\/\/|mailto:|tel:|\/(?!\/))/u);
    }
    await content.stop();
  });
});
