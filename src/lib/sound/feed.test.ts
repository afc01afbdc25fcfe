/**
 * The feeds of a series, checked against the specifications of their namespaces: Apple's list of required tags, and the podcast
 * namespace.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { AccessLevel, Card, Episode, Podcast, Sound } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { chaptersJson, episodeFile } from './documents.ts';
import { endedFeed, episodeGuid, type FileAddresses, podcastGuid, privateFeed, publicFeed, uuid5 } from './feed.ts';

const siteUrl = 'https://sun.example';
const podcast: Podcast = {
  id: 9,
  slug: 'how-it-works',
  title: 'How It Works & <b>Why</b>',
  excerpt: 'One question an episode.',
  bodyHtml: '<p>One question an episode.</p>',
  image: { url: 'https://cms.example/square.jpg', alt: '', width: 1400, height: 1400, caption: '', credit: '' },
  modified: '2026-11-20T12:00:00Z',
  details: {
    guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810',
    language: '',
    author: '',
    email: 'owner@sun.example',
    category: ['News', 'Politics'],
    explicit: false,
    paid: false,
  },
};
const episode = (id: number, access: AccessLevel, part: Partial<Sound> = {}): Episode => ({
  card: {
    id,
    slug: `story-${id}`,
    title: `Story ${id}`,
    excerpt: 'About it.',
    image: null,
    byline: { authors: [], contributors: [], agency: null },
    section: null,
    date: `2026-11-2${id}T12:00:00Z`,
    modified: `2026-11-2${id}T13:00:00Z`,
    access,
    minutes: 1,
  } satisfies Card,
  sound: {
    title: '',
    url: `https://cms.example/talk-${id}.mp3`,
    type: 'audio/mpeg',
    bytes: 123_456,
    seconds: 754,
    chapters: [{ start: 0, title: 'First' }],
    transcript: 'Words.',
    podcastId: 9,
    ...part,
  },
});
const noted: string[] = [];
const reader = (...items: Episode[]) =>
  ({
    episodes: () => ({ items, total: items.length }),
    note: (tag: string) => noted.push(tag),
  }) as unknown as ContentReader;
const parse = (xml: string) => {
  expect(XMLValidator.validate(xml)).toBe(true);
  return new XMLParser({
    parseTagValue: false,
    ignoreAttributes: false,
    isArray: (name) => ['item', 'itunes:category'].includes(name),
  }).parse(xml).rss;
};
const free = (...items: Episode[]) => parse(publicFeed(reader(...items), podcast, siteUrl));

describe('the public feed of a podcast', () => {
  it('cuts a description at 4000 bytes, and not inside a character', () => {
    const long = { ...podcast, excerpt: `x${'🎧'.repeat(1100)}` };
    const { channel } = parse(publicFeed(reader(), long, siteUrl));
    expect(channel.description).toBe(`x${'🎧'.repeat(999)}`);
  });

  it('declares the namespaces of Apple and Podcasting 2.0', () => {
    expect(free(episode(1, 'free'))).toMatchObject({
      '@_version': '2.0',
      '@_xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
      '@_xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
    });
  });

  it.each([
    [null, 'https://sun.example/icon-512.png'],
    [{ width: 1400, height: 900 }, 'https://cms.example/square.jpg'],
    [{ width: 600, height: 600 }, 'https://cms.example/square.jpg'],
  ])('names no cover that directories refuse: %j', (size, shown) => {
    const image = size && podcast.image && { ...podcast.image, ...size };
    const { channel } = parse(publicFeed(reader(), { ...podcast, image }, siteUrl));
    expect(channel).not.toHaveProperty(['itunes:image']);
    expect(channel.image.url).toBe(shown);
  });

  it('has every tag that Apple Podcasts requires for a show and an episode', () => {
    const { channel } = free(episode(1, 'free'));
    for (const name of ['title', 'description', 'itunes:image', 'language', 'itunes:category', 'itunes:explicit'])
      expect(channel, name).toHaveProperty([name]);
    for (const name of ['itunes:author', 'link']) expect(channel, name).toHaveProperty([name]);
    expect(channel['itunes:image']['@_href']).toMatch(/\.(?:jpg|png)$/);
    expect(channel.language).toMatch(/^[a-z]{2}(?:-[a-z]{2})?$/);
    expect(channel['itunes:explicit']).toMatch(/^(?:true|false)$/);
    expect(channel['itunes:category']).toEqual([{ '@_text': 'News', 'itunes:category': [{ '@_text': 'Politics' }] }]);
    const [item] = channel.item;
    for (const name of ['title', 'enclosure', 'guid', 'pubDate', 'description', 'itunes:duration', 'link'])
      expect(item, name).toHaveProperty([name]);
    expect(item.enclosure).toEqual({
      '@_url': 'https://cms.example/talk-1.mp3',
      '@_length': '123456',
      '@_type': 'audio/mpeg',
    });
    expect(item['itunes:duration']).toBe('754');
    expect(new Date(item.pubDate).toISOString()).toBe('2026-11-21T12:00:00.000Z');
    expect(channel['itunes:block']).toBeUndefined();
  });

  it('has the podcast namespace’s tags in their specified form', () => {
    const { channel } = free(episode(1, 'free'));
    expect(channel['podcast:guid']).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(channel['podcast:locked']).toEqual({ '#text': 'yes', '@_owner': 'owner@sun.example' });
    expect(channel.item[0]['podcast:chapters']).toEqual({
      '@_url': `${siteUrl}/article/story-1/chapters.json`,
      '@_type': 'application/json+chapters',
    });
    expect(channel.item[0]['podcast:transcript']).toEqual({
      '@_url': `${siteUrl}/article/story-1/transcript.txt`,
      '@_type': 'text/plain',
    });
  });

  it('has only episodes that are free, and nothing of the others', () => {
    noted.length = 0;
    const xml = publicFeed(
      reader(episode(1, 'free'), episode(2, 'subscriber'), episode(3, 'registered'), episode(4, 'default')),
      podcast,
      siteUrl,
    );
    expect(parse(xml).channel.item.map(({ title }: { title: string }) => title)).toEqual(['Story 1', 'Story 4']);
    expect(xml).not.toMatch(/talk-[23]/);
    // When a story stops being free, the feed changes, too.
    expect(noted).toEqual(expect.arrayContaining(['article:1', 'article:4']));
    expect(parse(publicFeed(reader(episode(1, 'free', { url: '' })), podcast, siteUrl)).channel.item).toBeUndefined();
  });

  it('leaves out tags for chapters, a transcript or a duration that an episode lacks', () => {
    const [item] = free(episode(1, 'free', { chapters: [], transcript: '', seconds: 0 })).channel.item;
    expect(Object.keys(item).filter((name) => /podcast:|duration/.test(name))).toEqual([]);
  });

  it('is valid XML even if titles contain markup', () => {
    for (const payload of xssPayloads) {
      const rss = parse(
        publicFeed(
          reader(episode(1, 'free', { title: payload })),
          { ...podcast, title: payload, excerpt: payload },
          siteUrl,
        ),
      );
      expect(Object.keys(rss)).toContain('channel');
    }
  });
});

describe('the ids in podcast feeds', () => {
  it('are made like the UUIDs in the podcast namespace’s documentation', () => {
    const namespace = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6';
    expect(uuid5(namespace, 'podnews.net/rss')).toBe('9b024349-ccf0-5f69-a609-6b82873eab3c');
    expect(uuid5(namespace, 'mp3s.nashownotes.com/pc20rss.xml')).toBe('917393e3-1b1e-5cef-ace4-edaa54e1f810');
  });

  it('stay the same for an episode when all else changes, and in a private feed', () => {
    const changed = episode(1, 'subscriber', { title: 'Another', url: 'https://cms.example/b.mp3' });
    const moved = { ...changed, card: { ...changed.card, slug: 'elsewhere', date: '2020-01-01T00:00:00Z' } };
    const addresses: FileAddresses = { audio: () => 'https://sun.example/x', file: () => 'https://sun.example/y' };
    const of = (xml: string) => parse(xml).channel.item[0].guid['#text'];
    expect(of(privateFeed(reader(moved), podcast, siteUrl, addresses))).toBe(
      of(publicFeed(reader(episode(1, 'free')), podcast, siteUrl)),
    );
    expect(episodeGuid(podcast.details.guid, 1)).not.toBe(episodeGuid(podcast.details.guid, 2));
  });

  it('are WordPress’s for a series, or computed from the feed’s URL if WordPress has none', () => {
    expect(podcastGuid(podcast, siteUrl)).toBe(podcast.details.guid);
    const none = { ...podcast, details: { ...podcast.details, guid: '' } };
    expect(podcastGuid(none, siteUrl)).toBe(
      uuid5('ead4c236-bf58-58c6-a2c6-a6b28d128cb6', 'sun.example/podcast/how-it-works/rss.xml'),
    );
  });
});

describe('a private feed of a podcast', () => {
  const addresses: FileAddresses = {
    audio: ({ card }) => `${siteUrl}/sound/${card.id}/0.mp3?key=1`,
    file: ({ card }, name) => `${siteUrl}/sound/${card.id}/${name}?key=1`,
  };

  it('has every episode at URLs of the site, and asks directories not to list it', () => {
    const xml = privateFeed(reader(episode(1, 'free'), episode(2, 'subscriber')), podcast, siteUrl, addresses);
    const { channel } = parse(xml);
    expect(channel.item).toHaveLength(2);
    expect([channel['itunes:block'], channel['podcast:block'], channel['atom:link']]).toEqual([
      'Yes',
      'yes',
      undefined,
    ]);
    expect(xml).not.toMatch(/cms\.example\/talk/);
  });

  it('has a note and no episodes when the subscription has ended', () => {
    const { channel } = parse(endedFeed(podcast, siteUrl));
    expect(channel.item).toBeUndefined();
    expect(channel.description).toContain('Your subscription has ended');
    expect(channel['itunes:block']).toBe('Yes');
  });
});

describe('the files of a podcast episode', () => {
  it('have its chapters in order, in version 1.2 of the format', () => {
    const { version, chapters } = JSON.parse(
      chaptersJson(
        episode(1, 'free', {
          chapters: [
            { start: 0, title: 'A' },
            { start: 5, title: 'B' },
          ],
        }),
        podcast,
      ),
    );
    expect([version, chapters]).toEqual([
      '1.2.0',
      [
        { startTime: 0, title: 'A' },
        { startTime: 5, title: 'B' },
      ],
    ]);
  });

  it('exist only if the episode has them, and only under the correct names', () => {
    const vtt = episode(1, 'free', { transcript: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHi' });
    expect(episodeFile(vtt, null, 'transcript.vtt')?.type).toBe('text/vtt');
    expect(episodeFile(vtt, null, 'transcript.txt')).toBeNull();
    expect(episodeFile(episode(1, 'free', { chapters: [] }), null, 'chapters.json')).toBeNull();
    expect(episodeFile(vtt, null, 'secrets.txt')).toBeNull();
  });
});
