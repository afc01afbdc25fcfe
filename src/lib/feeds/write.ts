/**
 * Writes feeds as RSS, Atom and JSON, with a minimal XML writer for feeds and sitemaps: elements are values, and text is
 * escaped once.
 */

/** An element: its name, its attributes (those with `null` are left out), its text or children. */
export type XmlNode = readonly [
  name: string,
  attributes: Readonly<Record<string, string | number | null>>,
  children: string | readonly (XmlNode | null)[],
];

// XML 1.0 can't contain these characters, not even escaped.
const unwritable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Text escaped for an element or attribute of XML. */
export const escapeXml = (text: string): string =>
  text.replace(unwritable, '').replace(/[&<>"']/g, (character) => entities[character] as string);

function write(node: XmlNode): string {
  const [name, attributes, children] = node;
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('');
  const inner =
    typeof children === 'string'
      ? escapeXml(children)
      : children
          .filter((child) => child !== null)
          .map(write)
          .join('');
  return inner === '' ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`;
}

/** A complete XML document in UTF-8. */
export const xmlDocument = (root: XmlNode): string => `<?xml version="1.0" encoding="UTF-8"?>\n${write(root)}\n`;

/** A date in RFC 822 format, which RSS requires. */
export const rfc822 = (iso: string): string => new Date(iso).toUTCString().replace('GMT', '+0000');
const rfc3339 = (iso: string): string => new Date(iso).toISOString();

function writeRss(feed: FeedDocument): string {
  const item = (entry: FeedItem): XmlNode => [
    'item',
    {},
    [
      ['title', {}, entry.title],
      ['link', {}, entry.url],
      ['guid', { isPermaLink: 'false' }, stableId(feed, entry)],
      ['pubDate', {}, rfc822(entry.published)],
      ...entry.authors.map(({ name }): XmlNode => ['dc:creator', {}, name]),
      ...entry.contributors.map(({ name }): XmlNode => ['dc:contributor', {}, name]),
      ...entry.sections.map((section): XmlNode => ['category', {}, section]),
      ['description', {}, entry.summary],
      entry.image && [
        'media:content',
        { url: entry.image.url, medium: 'image', width: entry.image.width, height: entry.image.height },
        [entry.image.alt ? ['media:description', { type: 'plain' }, entry.image.alt] : null],
      ],
    ],
  ];
  return xmlDocument([
    'rss',
    {
      version: '2.0',
      'xmlns:atom': 'http://www.w3.org/2005/Atom',
      'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
      'xmlns:media': 'http://search.yahoo.com/mrss/',
    },
    [
      [
        'channel',
        {},
        [
          ['title', {}, feed.title],
          ['link', {}, feed.homeUrl],
          ['description', {}, feed.description],
          ['language', {}, feed.language.toLowerCase()],
          ['lastBuildDate', {}, rfc822(lastChange(feed))],
          ['ttl', {}, '5'],
          [
            'image',
            {},
            [
              ['url', {}, feed.iconUrl],
              ['title', {}, feed.title],
              ['link', {}, feed.homeUrl],
            ],
          ],
          ['atom:link', { href: `${feed.baseUrl}rss.xml`, rel: 'self', type: 'application/rss+xml' }, ''],
          ...feed.items.map(item),
        ],
      ],
    ],
  ]);
}

const atomPerson = (element: 'author' | 'contributor', { name, url }: FeedPerson): XmlNode => [
  element,
  {},
  [['name', {}, name], url === undefined ? null : ['uri', {}, url]],
];

function writeAtom(feed: FeedDocument): string {
  const entry = (item: FeedItem): XmlNode => [
    'entry',
    {},
    [
      ['id', {}, stableId(feed, item)],
      ['title', {}, item.title],
      ['link', { rel: 'alternate', type: 'text/html', href: item.url }, ''],
      ['published', {}, rfc3339(item.published)],
      ['updated', {}, rfc3339(item.modified)],
      ...item.authors.map((author) => atomPerson('author', author)),
      ...item.contributors.map((contributor) => atomPerson('contributor', contributor)),
      ...item.sections.map((section): XmlNode => ['category', { term: section }, '']),
      ['summary', { type: 'text' }, item.summary],
    ],
  ];
  return xmlDocument([
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': feed.language },
    [
      ['id', {}, feed.homeUrl],
      ['title', {}, feed.title],
      ['subtitle', {}, feed.description],
      ['updated', {}, rfc3339(lastChange(feed))],
      ['link', { rel: 'self', type: 'application/atom+xml', href: `${feed.baseUrl}atom.xml` }, ''],
      ['link', { rel: 'alternate', type: 'text/html', href: feed.homeUrl }, ''],
      ['icon', {}, feed.iconUrl],
      ['author', {}, [['name', {}, feed.siteName]]],
      ...feed.items.map(entry),
    ],
  ]);
}

function writeJson(feed: FeedDocument): string {
  return `${JSON.stringify(
    {
      version: 'https://jsonfeed.org/version/1.1',
      title: feed.title,
      description: feed.description,
      home_page_url: feed.homeUrl,
      feed_url: `${feed.baseUrl}feed.json`,
      icon: feed.iconUrl,
      language: feed.language,
      authors: [{ name: feed.siteName }],
      items: feed.items.map((item) => ({
        id: stableId(feed, item),
        url: item.url,
        title: item.title,
        summary: item.summary || undefined,
        content_text: item.summary || item.title,
        image: item.image?.url,
        date_published: rfc3339(item.published),
        date_modified: rfc3339(item.modified),
        authors: item.authors.length > 0 ? item.authors : undefined,
        tags: item.sections,
      })),
    },
    null,
    1,
  )}\n`;
}

/** An id for feed readers that changes neither with the slug nor with the story's date (RFC 4151); the year is that of the scheme. */
function stableId(feed: FeedDocument, item: FeedItem): string {
  const story = `tag:${new URL(feed.homeUrl).hostname},2026:article:${item.id}`;
  return item.note === undefined ? story : `${story}:note:${item.note}`;
}

const feedType = /^application\/(?:rss\+xml|atom\+xml|feed\+json)$/;

/** A response of a media type, or a plain 404. Scripts of other sites may read feeds: some feed readers run in a browser. */
export const textAnswer = (body: string | null, type: string): Response =>
  body === null
    ? new Response('Not found.\n', { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })
    : new Response(body, {
        headers: {
          'content-type': `${type}; charset=utf-8`,
          ...(feedType.test(type) && { 'access-control-allow-origin': '*' }),
        },
      });

export interface FeedPerson {
  readonly name: string;
  /** Absolute; an agency may have none. */
  readonly url?: string | undefined;
}

/** An article in a feed. Feeds contain standfirsts, never bodies, so that no paid text can leak. */
export interface FeedItem {
  readonly id: number;
  /** For a note on an article: distinguishes it from the article's other notes. */
  readonly note?: string;
  readonly title: string;
  /** Absolute, canonical. */
  readonly url: string;
  /** Plain text, possibly empty. */
  readonly summary: string;
  /** Authors, then the agency. */
  readonly authors: readonly FeedPerson[];
  readonly contributors: readonly FeedPerson[];
  readonly sections: readonly string[];
  /** Absolute address of a picture that exists as JPEG, PNG or WebP for any client. */
  readonly image: {
    readonly url: string;
    readonly alt: string;
    readonly width: number;
    readonly height: number;
  } | null;
  /** UTC, ISO 8601. */
  readonly published: string;
  readonly modified: string;
}

export interface FeedDocument {
  readonly title: string;
  readonly description: string;
  /** Absolute address of the page that this feed belongs to. */
  readonly homeUrl: string;
  /** Address of this feed without its file name, absolute, ending in a slash. */
  readonly baseUrl: string;
  readonly language: string;
  readonly siteName: string;
  readonly iconUrl: string;
  /** Newest first. */
  readonly items: readonly FeedItem[];
}

/** The three formats of every feed. */
export const feedFormats = [
  { file: 'rss.xml', type: 'application/rss+xml', name: 'RSS', write: writeRss },
  { file: 'atom.xml', type: 'application/atom+xml', name: 'Atom', write: writeAtom },
  { file: 'feed.json', type: 'application/feed+json', name: 'JSON Feed', write: writeJson },
] as const;

/** When anything in the feed last changed; for an empty feed, the epoch. */
const lastChange = (feed: FeedDocument): string =>
  feed.items
    .map((item) => item.modified)
    .sort()
    .at(-1) ?? '1970-01-01T00:00:00Z';

/** Articles in one sitemap; the protocol allows 50,000, and a smaller one is faster to render. */
export const articlesPerSitemap = 5000;
