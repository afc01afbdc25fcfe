import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it, test } from 'vitest';
import type { Author, Card, Section } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { fixedPages } from '../http/fixed-pages.ts';
import { answerFeed, buildFeed } from './build.ts';
import { adsTxt, newsSitemap, robotsTxt, securityTxt, sitemap, sitemapIndex } from './crawler-files.ts';
import { escapeXml, feedFormats } from './write.ts';

const site = 'https://paper.example';
const now = Date.parse('2026-11-21T12:00:00Z');
const politics: Section = {
  id: 4,
  slug: 'politics',
  name: 'Politics',
  label: 'Politics',
  homepageCount: 5,
  showInMedia: false,
  navigationPosition: 4,
  color: 'default',
};
const author: Author = { id: 7, name: 'Clara & Co.', slug: 'clara', excerpt: 'Writes.', image: null };
const card = (id: number, more: Partial<Card> = {}): Card => ({
  id,
  slug: `story-${id}`,
  title: `Story ${id} <b>& "more"</b> ]]> 🗞️`,
  excerpt: 'A standfirst with \u0007 a bell',
  image: null,
  byline: { authors: [author], contributors: [], agency: null },
  section: politics,
  date: new Date(now - id * 3_600_000).toISOString(),
  modified: new Date(now - id * 1_800_000).toISOString(),
  access: 'subscriber',
  minutes: 3,
  ...more,
});
const noByline = { authors: [], contributors: [], agency: null };
const picture = {
  url: 'https://wp.example/a b.jpg',
  alt: 'A harbor',
  width: 1600,
  height: 900,
  caption: '',
  credit: '',
};
const cards = [card(1, { image: picture }), card(2, { byline: noByline, section: null, excerpt: '' }), card(60)];

/** A content reader over the few articles above; methods that these tests don't use are missing. */
const reader = (list: readonly Card[] = cards, total = list.length) =>
  ({
    sections: () => [politics],
    section: (slug: string) => (slug === 'politics' ? politics : null),
    formerSection: (slug: string) => (slug === 'power' ? politics : null),
    authors: () => [author],
    author: (slug: string) => (slug === 'clara' ? author : null),
    articles: ({ since = '', limit = 10, offset = 0 }) => ({
      items: list.filter((each) => each.date >= since).slice(offset, offset + limit),
      total,
    }),
    videos: () => ({ items: [], total: 0 }),
    crosswords: () => ({ items: [], total: 0 }),
    podcasts: () => [],
    note: () => {},
    liveModified: () => null,
    resolveSlug: (_: string, slug: string) =>
      slug === 'clara-before' ? { kind: 'moved', slug: 'clara' } : { kind: 'unknown' },
  }) as unknown as ContentReader;

const parse = (xml: string) => {
  expect(XMLValidator.validate(xml)).toBe(true);
  return new XMLParser({
    ignoreAttributes: false,
    parseTagValue: false,
    isArray: (name) => ['item', 'entry', 'url', 'sitemap'].includes(name),
  }).parse(xml);
};
const write = (file: (typeof feedFormats)[number]['file'], list = cards) => {
  const feed = buildFeed(reader(list), site);
  const format = feedFormats.find((each) => each.file === file);
  if (!feed || !format) throw new Error(`No feed ${file}`);
  return format.write(feed);
};

describe('RSS 2.0, by the RSS profile', () => {
  const { rss } = parse(write('rss.xml'));
  test('the channel has the required elements and a self link', () => {
    expect(rss['@_version']).toBe('2.0');
    expect(rss.channel).toMatchObject({ title: 'The Sun', link: `${site}/` });
    expect(rss.channel.description).toBeTruthy();
    expect(rss.channel['atom:link']).toMatchObject({ '@_href': `${site}/rss.xml`, '@_rel': 'self' });
    expect(rss.channel.lastBuildDate).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/);
  });
  test('each item has a title, a link, a permanent id and an RFC 822 date', () => {
    expect(rss.channel.item).toHaveLength(3);
    for (const item of rss.channel.item) {
      expect(item.link).toMatch(/^https:\/\/paper\.example\/article\/story-\d+$/);
      expect(item.guid).toMatchObject({
        '#text': expect.stringMatching(/^tag:paper\.example,2026:article:\d+$/),
        '@_isPermaLink': 'false',
      });
      expect(Number.isNaN(Date.parse(item.pubDate))).toBe(false);
    }
    expect(rss.channel.item[0].title).toBe('Story 1 <b>& "more"</b> ]]> 🗞️');
    expect(rss.channel.item[0].description).toBe('A standfirst with  a bell');
    expect(rss.channel.item[0]['dc:creator']).toBe('Clara & Co.');
    expect(rss.channel.item[0]['media:content']).toMatchObject({
      '@_medium': 'image',
      '@_width': '1200',
      '@_height': '675',
    });
    expect(rss.channel.item[1]['dc:creator']).toBeUndefined();
  });
});

test('every form of a feed names a story’s authors and agency; RSS and Atom also name contributors', () => {
  const byline = {
    authors: [author, { ...author, id: 8, name: 'Ben', slug: 'ben' }],
    contributors: [{ id: 9, name: 'Cy', slug: 'cy' }],
    agency: { name: 'A <b> Wire', url: '' },
  };
  const list = [card(1, { byline })];
  const [item] = parse(write('rss.xml', list)).rss.channel.item;
  expect([item['dc:creator'], item['dc:contributor']]).toEqual([['Clara & Co.', 'Ben', 'A <b> Wire'], 'Cy']);
  const [entry] = parse(write('atom.xml', list)).feed.entry;
  expect(entry.author).toEqual([
    { name: 'Clara & Co.', uri: `${site}/author/clara` },
    { name: 'Ben', uri: `${site}/author/ben` },
    { name: 'A <b> Wire' },
  ]);
  expect(entry.contributor).toEqual({ name: 'Cy', uri: `${site}/author/cy` });
  expect(JSON.parse(write('feed.json', list)).items[0].authors).toEqual([
    { name: 'Clara & Co.', url: `${site}/author/clara` },
    { name: 'Ben', url: `${site}/author/ben` },
    { name: 'A <b> Wire' },
  ]);
});

describe('Atom, by RFC 4287', () => {
  const { feed } = parse(write('atom.xml'));
  test('the feed has an id, a title, an author, a time and a self link', () => {
    expect(feed).toMatchObject({ id: `${site}/`, title: 'The Sun', author: { name: 'The Sun' } });
    expect(new Date(feed.updated).toISOString()).toBe(feed.updated);
    expect(feed.link.map((link: Record<string, string>) => link['@_rel'])).toEqual(['self', 'alternate']);
  });
  test('each entry has a unique id, a title, an update time and one alternate link', () => {
    const ids = feed.entry.map((entry: { id: string }) => entry.id);
    expect(new Set(ids).size).toBe(3);
    for (const entry of feed.entry) {
      expect(entry.title).toBeTruthy();
      expect(new Date(entry.updated).toISOString()).toBe(entry.updated);
      expect(entry.link['@_rel']).toBe('alternate');
    }
  });
});

describe('JSON Feed 1.1', () => {
  const feed = JSON.parse(write('feed.json'));
  test('the feed has its version, title, addresses and language', () =>
    expect(feed).toMatchObject({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'The Sun',
      home_page_url: `${site}/`,
      feed_url: `${site}/feed.json`,
      language: 'en-US',
    }));
  test('each item has a string id, content and RFC 3339 dates', () => {
    for (const item of feed.items) {
      expect(typeof item.id).toBe('string');
      expect(item.content_text.length).toBeGreaterThan(0);
      expect(item.date_published).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    expect(feed.items[1].authors).toBeUndefined();
  });
});

test('a feed has the thirty newest stories of its subject, and carries the tag of each', () => {
  const filters: unknown[] = [];
  const noted: string[] = [];
  const watched = Object.assign(reader(), {
    articles: (filter: unknown) => {
      filters.push(filter);
      return { items: cards, total: cards.length };
    },
    note: (tag: string) => void noted.push(tag),
  }) as ContentReader;
  for (const of of [{}, { section: 'politics' }, { author: 'clara' }]) buildFeed(watched, site, of);
  expect(filters).toEqual([{ limit: 30 }, { section: 'politics', limit: 30 }, { authorId: 7, limit: 30 }]);
  expect(new Set(noted)).toEqual(new Set(['article:1', 'article:2', 'article:60']));
  noted.length = 0;
  sitemap(watched, site, 'articles-1');
  expect(new Set(noted)).toEqual(new Set(['article:1', 'article:2', 'article:60']));
  // Oldest first, so that a new story changes only the last sitemap.
  expect(filters.at(-1)).toMatchObject({ order: 'asc' });
});

test('a story’s feed entry has its publication and change times, and an id independent of its address', () => {
  const list = [card(2), card(1, { slug: 'another-address' })];
  const [published, modified] = ['2026-11-21T11:00:00.000Z', '2026-11-21T11:30:00.000Z'];
  const { channel } = parse(write('rss.xml', list)).rss;
  expect([channel.item[1].pubDate, channel.lastBuildDate]).toEqual([
    'Sat, 21 Nov 2026 11:00:00 +0000',
    'Sat, 21 Nov 2026 11:30:00 +0000',
  ]);
  const { feed } = parse(write('atom.xml', list));
  expect([feed.entry[1].published, feed.entry[1].updated, feed.updated]).toEqual([published, modified, modified]);
  const item = JSON.parse(write('feed.json', list)).items[1];
  expect([item.date_published, item.date_modified]).toEqual([published, modified]);
  const guid = 'tag:paper.example,2026:article:1';
  expect([channel.item[1].guid['#text'], feed.entry[1].id, item.id]).toEqual([guid, guid, guid]);
  expect(item.url).toBe(`${site}/article/another-address`);
});

test('a feed links an agency to the agency’s own address', () => {
  const byline = { authors: [], contributors: [], agency: { name: 'Wire', url: 'https://wire.example/' } };
  const [entry] = parse(write('atom.xml', [card(1, { byline })])).feed.entry;
  expect(entry.author).toEqual({ name: 'Wire', uri: 'https://wire.example/' });
});

test('a feed without stories is valid in every form', () => {
  expect(parse(write('rss.xml', [])).rss.channel.item).toBeUndefined();
  expect(parse(write('atom.xml', [])).feed.updated).toBe('1970-01-01T00:00:00.000Z');
  expect(JSON.parse(write('feed.json', [])).items).toEqual([]);
});

test('sections and authors have feeds; renamed ones redirect, and unknown ones respond 404', async () => {
  expect(buildFeed(reader(), site, { section: 'politics' })).toMatchObject({
    title: 'The Sun: Politics',
    homeUrl: `${site}/section/politics`,
    baseUrl: `${site}/section/politics/`,
  });
  expect(buildFeed(reader(), site, { author: 'clara' })).toMatchObject({
    title: 'The Sun: Clara & Co.',
    description: 'Writes.',
  });
  expect(buildFeed(reader(), site, { section: 'nothing' })).toBeNull();
  expect(answerFeed(reader(), site, 'rss.php').status).toBe(404);
  expect(answerFeed(reader(), site, 'rss.xml', { author: 'nobody' }).status).toBe(404);
  // Feed readers follow an author whose slug has changed.
  const moved = answerFeed(reader(), site, 'atom.xml', { author: 'clara-before' });
  expect([moved.status, moved.headers.get('location')]).toEqual([301, '/author/clara/atom.xml']);
  expect(answerFeed(reader(), site, 'atom.php', { author: 'clara-before' }).status).toBe(404);
  const renamed = answerFeed(reader(), site, 'rss.xml', { section: 'power' });
  expect([renamed.status, renamed.headers.get('location')]).toEqual([301, '/section/politics/rss.xml']);
  expect(answerFeed(reader(), site, 'atom.xml').headers.get('content-type')).toBe(
    'application/atom+xml; charset=utf-8',
  );
});

test('every form of a feed allows cross-origin requests', () => {
  for (const { file } of feedFormats)
    expect(answerFeed(reader(), site, file).headers.get('access-control-allow-origin'), file).toBe('*');
});

describe('sitemaps, by sitemaps.org', () => {
  test('the index lists the pages and one sitemap per 5,000 articles', () => {
    const index = parse(sitemapIndex(reader(cards, 10_001), site)).sitemapindex;
    expect(index['@_xmlns']).toBe('http://www.sitemaps.org/schemas/sitemap/0.9');
    expect(index.sitemap.map((map: { loc: string }) => map.loc)).toEqual(
      ['pages', 'articles-1', 'articles-2', 'articles-3'].map((name) => `${site}/sitemaps/${name}.xml`),
    );
  });
  test('each sitemap lists its part of the articles, and there is none after the last', () => {
    const archive = reader(Array.from({ length: 10_000 }, (_, at) => card(at)));
    const named = ['articles-1', 'articles-2'].map((name) =>
      parse(sitemap(archive, site, name) as string).urlset.url.map((entry: { loc: string }) => entry.loc),
    );
    expect(named.map((locations) => [locations.length, locations[0], locations.at(-1)])).toEqual([
      [5000, `${site}/article/story-0`, `${site}/article/story-4999`],
      [5000, `${site}/article/story-5000`, `${site}/article/story-9999`],
    ]);
    expect(sitemap(archive, site, 'articles-3')).toBeNull();
  });
  test('addresses are absolute and dates are W3C dates', () => {
    const { urlset } = parse(sitemap(reader(), site, 'articles-1') as string);
    for (const entry of urlset.url) {
      expect(entry.loc.startsWith(`${site}/article/`)).toBe(true);
      expect(entry.lastmod).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    }
    const pages = parse(sitemap(reader(), site, 'pages') as string).urlset.url.map(
      (entry: { loc: string }) => entry.loc,
    );
    expect(pages).toEqual(expect.arrayContaining([`${site}/section/politics`, `${site}/author/clara`]));
    expect(pages.some((loc: string) => loc.includes('podcast'))).toBe(false);
    expect(pages.some((loc: string) => /dashboard|shipping|thankyou/.test(loc))).toBe(false);
  });
  test('every cached page is listed unless it is marked as unlisted, and uncached pages are not', () => {
    const pages = parse(sitemap(reader(), site, 'pages') as string).urlset.url.map(
      (entry: { loc: string }) => entry.loc,
    );
    for (const { path, uncached, unlisted } of fixedPages)
      expect(pages.includes(`${site}${path}`), path).toBe(!uncached && !unlisted);
  });
  test.each(['articles-0', 'articles-2', 'articles--1', 'articles-1e9', 'other', '../pages'])(
    'there is no sitemap named %s',
    (name) => expect(sitemap(reader(), site, name)).toBeNull(),
  );
  test('all videos and games are listed, in as many sitemaps as they need', () => {
    const many =
      (count: number) =>
      ({ offset = 0, limit = 20 }) => ({
        items: Array.from({ length: Math.max(0, Math.min(limit, count - offset)) }, (_, at) => ({
          slug: `no-${offset + at}`,
          date: '2026-11-21T12:00:00Z',
          modified: '2026-11-21T12:00:00Z',
        })),
        total: count,
      });
    const archive = Object.assign(reader(), { videos: many(6001), crosswords: many(1001) }) as ContentReader;
    const index = parse(sitemapIndex(archive, site)).sitemapindex.sitemap.map((map: { loc: string }) => map.loc);
    expect(index).toEqual(
      ['pages', 'articles-1', 'videos-1', 'videos-2', 'games-1'].map((name) => `${site}/sitemaps/${name}.xml`),
    );
    const all = ['pages', 'videos-1', 'videos-2', 'games-1'].flatMap((name) =>
      parse(sitemap(archive, site, name) as string).urlset.url.map((entry: { loc: string }) => entry.loc),
    );
    const named = (path: string) => new Set(all.filter((loc) => loc.startsWith(`${site}${path}`))).size;
    expect([named('/media/'), named('/games/')]).toEqual([6001, 1001]);
    expect([sitemap(archive, site, 'videos-3'), sitemap(archive, site, 'games-2')]).toEqual([null, null]);
  });
  test('a story’s last change, in a sitemap and in a feed, is that of its newest live entry', () => {
    const live = Object.assign(reader([card(1), card(2, { isLive: true })]), {
      liveModified: ({ id }: Card) => (id === 2 ? '2026-11-21T11:45:00Z' : null),
    }) as ContentReader;
    const { url } = parse(sitemap(live, site, 'articles-1') as string).urlset;
    expect(url.map(({ lastmod }: { lastmod: string }) => lastmod)).toEqual([
      '2026-11-21T06:30:00-05:00',
      '2026-11-21T06:45:00-05:00',
    ]);
    const changed = buildFeed(live, site)?.items.map(({ modified }) => modified);
    expect(changed).toEqual(['2026-11-21T11:30:00.000Z', '2026-11-21T11:45:00Z']);
  });
  test('podcast series and their overview page are listed when there are any', () => {
    const withSeries = Object.assign(reader(), { podcasts: () => [{ slug: 'the-week' }] }) as unknown as ContentReader;
    const pages = parse(sitemap(withSeries, site, 'pages') as string).urlset.url.map(({ loc }: { loc: string }) => loc);
    expect(pages).toEqual(expect.arrayContaining([`${site}/podcasts`, `${site}/podcast/the-week`]));
  });
  test('an edition without articles still has a valid first sitemap', () =>
    expect(parse(sitemap(reader([], 0), site, 'articles-1') as string)).toHaveProperty('urlset'));
});

test('the news sitemap lists the stories of two days with the three fields that Google requires', () => {
  const { urlset } = parse(newsSitemap(reader(), site, now));
  expect(urlset.url).toHaveLength(2);
  expect(urlset.url[0]['news:news']).toMatchObject({
    'news:publication': { 'news:name': 'The Sun', 'news:language': 'en' },
    'news:publication_date': '2026-11-21T06:00:00-05:00',
    'news:title': expect.stringContaining('Story 1'),
  });
});

test('robots.txt disallows personal pages and names the sitemap', () => {
  expect(robotsTxt(site)).toMatch(/^User-agent: \*\n/);
  for (const path of [
    '/account/',
    '/socialLogin',
    '/dashboard/',
    '/subscribe',
    '/api/',
    '/live/',
    '/preview',
    '/sound/',
  ])
    expect(robotsTxt(site)).toContain(`\nDisallow: ${path}\n`);
  // Robots that obey robots.txt fetch the preview of a gift link.
  expect(robotsTxt(site)).not.toContain('/gift/');
  expect(robotsTxt(site)).toContain(`Sitemap: ${site}/sitemap.xml\n`);
});

test('robots.txt disallows everything for the robots that the publication names, and for no others', () => {
  expect(robotsTxt(site, [])).not.toContain('Disallow: /\n');
  expect(robotsTxt(site, ['GPTBot', 'CCBot'])).toContain('\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\n');
});

test('escapeXml escapes markup and removes characters that are invalid in XML', () => {
  expect(escapeXml('a\u0000b\u001fc\ud800d\ufffee<&>"\'')).toBe('abcde&lt;&amp;&gt;&quot;&apos;');
  expect(escapeXml('🗞️')).toBe('🗞️');
});

describe('ads.txt', () => {
  it('lists the authorized sellers and the owner’s domain', () => {
    const text = adsTxt('https://sun.example', ['google.com, pub-1, DIRECT, f08c47fec0942fa0']);
    expect(text.split('\n')).toContain('google.com, pub-1, DIRECT, f08c47fec0942fa0');
    expect(text).not.toContain('placeholder');
    expect(text).toContain('ownerdomain=sun.example\n');
    expect(adsTxt('https://www.sun.example', [])).toContain('ownerdomain=sun.example\n');
  });

  it('declares with a placeholder that there are no sellers', () => {
    expect(adsTxt('https://sun.example', [])).toContain(
      '\nplaceholder.example.com, placeholder, DIRECT, placeholder\n',
    );
  });
});

describe('security.txt', () => {
  const now = Date.parse('2026-11-23T10:20:30Z');
  const fields = new Map(
    securityTxt('https://sun.example', now)
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
  );

  it('has the fields Contact and Canonical of RFC 9116', () => {
    expect(fields.get('Contact')).toMatch(/^mailto:\S+@\S+$/);
    expect(fields.get('Canonical')).toBe('https://sun.example/.well-known/security.txt');
  });

  it('expires 180 days from now', () => {
    expect(fields.get('Expires')).toBe('2027-05-22T00:00:00Z');
  });
});
