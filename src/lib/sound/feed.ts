/**
 * The feeds of a series: RSS with the tags that Apple Podcasts requires and those of the podcast namespace. The public feed has the
 * episodes that everyone may hear; a subscriber's private feed has all, with addresses that belong to this feed.
 */

import { createHash } from 'node:crypto';
import { publication } from '../../publication.ts';
import { isFree } from '../article/model.ts';
import { bylineText } from '../bylines/model.ts';
import type { Episode, Picture, Podcast } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { tag } from '../content/tags.ts';
import { rfc822, type XmlNode, xmlDocument } from '../feeds/write.ts';
import { cutToBytes } from '../text.ts';
import { chaptersType } from './documents.ts';
import { languageOf, podcastFeedPath, podcastPath, soundTitle, transcriptFile, transcriptType } from './model.ts';

/** Most episodes in a feed: apps keep the episodes that they have already read. */
const episodesPerFeed = 300;
/** Apple cuts descriptions at 4000 bytes. */
const longestDescription = 4000;

/** Where a feed's reader gets the files of an episode; `null` where the reader may not. */
export interface FileAddresses {
  audio(episode: Episode): string | null;
  /** @param name `chapters.json`, `transcript.txt`, … */
  file(episode: Episode, name: string): string;
}

/** UUID, version 5. */
export function uuid5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** The namespace of podcasts' ids (podcast namespace, "guid"). */
const podcastNamespace = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6';

/**
 * The series' id, which WordPress stores and never changes. A series without one gets the id that WordPress would assign now.
 */
export const podcastGuid = ({ details, slug }: Podcast, siteUrl: string): string =>
  details.guid || uuid5(podcastNamespace, siteUrl.replace(/^https?:\/\//, '') + podcastFeedPath(slug));

/** An episode's id: it doesn't change when its address, title, date or file changes. */
export const episodeGuid = (podcastId: string, articleId: number): string =>
  `urn:uuid:${uuid5(podcastId, String(articleId))}`;

/** Whether directories take a picture: square, 1400 to 3000 pixels, JPEG or PNG. A story's picture seldom is. */
const isCover = (image: Picture | null): image is Picture =>
  image !== null &&
  image.width === image.height &&
  (image.width ?? 0) >= 1400 &&
  (image.width ?? 0) <= 3000 &&
  /\.(?:jpe?g|png)$/i.test(image.url);

const coverUrl = (podcast: Podcast, siteUrl: string): string =>
  podcast.image ? podcast.image.url : `${siteUrl}/icon-512.png`;

function categoryNode([category = 'News', subcategory]: readonly string[]): XmlNode {
  return ['itunes:category', { text: category }, subcategory ? [['itunes:category', { text: subcategory }, '']] : ''];
}

function itemNode(episode: Episode, guid: string, siteUrl: string, addresses: FileAddresses): XmlNode | null {
  const { card, sound } = episode;
  const url = addresses.audio(episode);
  if (url === null) return null;
  const link = `${siteUrl}/article/${card.slug}`;
  const byline = bylineText(card.byline);
  return [
    'item',
    {},
    [
      ['title', {}, soundTitle(sound, card)],
      ['link', {}, link],
      ['guid', { isPermaLink: 'false' }, episodeGuid(guid, card.id)],
      ['pubDate', {}, rfc822(card.date)],
      ['description', {}, cutToBytes(card.excerpt || soundTitle(sound, card), longestDescription)],
      ['enclosure', { url, length: sound.bytes, type: sound.type }, ''],
      sound.seconds > 0 ? ['itunes:duration', {}, String(sound.seconds)] : null,
      ['itunes:episodeType', {}, 'full'],
      byline === '' ? null : ['itunes:author', {}, byline],
      isCover(card.image) ? ['itunes:image', { href: card.image.url }, ''] : null,
      sound.chapters.length > 0
        ? ['podcast:chapters', { url: addresses.file(episode, 'chapters.json'), type: chaptersType }, '']
        : null,
      sound.transcript === ''
        ? null
        : [
            'podcast:transcript',
            { url: addresses.file(episode, transcriptFile(sound)), type: transcriptType(sound) },
            '',
          ],
    ],
  ];
}

interface FeedOptions {
  readonly podcast: Podcast;
  readonly siteUrl: string;
  /** Address of this feed; `null` for one whose address is a secret. */
  readonly self: string | null;
  /** Whether directories may list it. */
  readonly listed: boolean;
  readonly items: readonly (XmlNode | null)[];
  /** Instead of the series' own. */
  readonly description?: string;
}

function writePodcast({ podcast, siteUrl, self, listed, items, description }: FeedOptions): string {
  const { details, title } = podcast;
  const home = `${siteUrl}${podcastPath(podcast.slug)}`;
  const author = details.author || publication.name;
  const image = coverUrl(podcast, siteUrl);
  const channel: readonly (XmlNode | null)[] = [
    ['title', {}, title],
    ['link', {}, home],
    ['description', {}, cutToBytes(description ?? (podcast.excerpt || title), longestDescription)],
    ['language', {}, languageOf(podcast, publication.language).toLowerCase()],
    ['copyright', {}, publication.name],
    ['generator', {}, 'Broadsheet'],
    [
      'image',
      {},
      [
        ['url', {}, image],
        ['title', {}, title],
        ['link', {}, home],
      ],
    ],
    self === null ? null : ['atom:link', { href: self, rel: 'self', type: 'application/rss+xml' }, ''],
    isCover(podcast.image) ? ['itunes:image', { href: podcast.image.url }, ''] : null,
    categoryNode(details.category),
    ['itunes:explicit', {}, details.explicit ? 'true' : 'false'],
    ['itunes:author', {}, author],
    ['itunes:type', {}, 'episodic'],
    details.email === ''
      ? null
      : [
          'itunes:owner',
          {},
          [
            ['itunes:name', {}, author],
            ['itunes:email', {}, details.email],
          ],
        ],
    listed ? null : ['itunes:block', {}, 'Yes'],
    ['podcast:guid', {}, podcastGuid(podcast, siteUrl)],
    ['podcast:locked', { owner: details.email || null }, 'yes'],
    listed ? null : ['podcast:block', {}, 'yes'],
    ...items,
  ];
  return xmlDocument([
    'rss',
    {
      version: '2.0',
      'xmlns:atom': 'http://www.w3.org/2005/Atom',
      'xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
      'xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
    },
    [['channel', {}, channel]],
  ]);
}

/** The feed that everyone may read, with the free episodes. */
export function publicFeed(content: ContentReader, podcast: Podcast, siteUrl: string): string {
  const guid = podcastGuid(podcast, siteUrl);
  const { items } = content.episodes(podcast.id, { limit: episodesPerFeed });
  const addresses: FileAddresses = {
    audio: ({ card, sound }) => (isFree(card.access) && sound.url !== '' ? sound.url : null),
    file: ({ card }, name) => `${siteUrl}/article/${card.slug}/${name}`,
  };
  // When a story stops being free, a feed with its address must be withdrawn at once.
  for (const { card } of items) content.note(tag.article(card.id));
  return writePodcast({
    podcast,
    siteUrl,
    self: `${siteUrl}${podcastFeedPath(podcast.slug)}`,
    listed: true,
    items: items.map((episode) => itemNode(episode, guid, siteUrl, addresses)),
  });
}

/** A subscriber's own feed, with every episode. */
export function privateFeed(
  content: ContentReader,
  podcast: Podcast,
  siteUrl: string,
  addresses: FileAddresses,
): string {
  const guid = podcastGuid(podcast, siteUrl);
  const { items } = content.episodes(podcast.id, { limit: episodesPerFeed });
  return writePodcast({
    podcast,
    siteUrl,
    self: null,
    listed: false,
    items: items.map((episode) => itemNode(episode, guid, siteUrl, addresses)),
  });
}

/** The feed for a reader who no longer subscribes: a notice instead of episodes. */
export const endedFeed = (podcast: Podcast, siteUrl: string): string =>
  writePodcast({
    podcast,
    siteUrl,
    self: null,
    listed: false,
    items: [],
    description: `Your subscription has ended, so there are no episodes in this feed. Subscribe again at ${siteUrl}/subscribe, and they come back.`,
  });
