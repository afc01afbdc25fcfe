/** Reads the writers' files of the demo edition. A missing file is left out; a broken file is an error. */
import fs from 'node:fs';
import path from 'node:path';
import { descriptions } from './art/descriptions.ts';
import { escapeText, htmlToBlocks, markdownToBlocks } from './blocks.ts';
import { crosswordPage } from './crosswords/page.ts';
import { type Puzzle, puzzles } from './crosswords/puzzle.ts';
import { type MarkdownFile, flagIn, listIn, numberIn, parseMarkdownFile, required } from './front-matter.ts';
import { awkward } from './awkward.ts';
import type { AwkwardPost, Comment, Document, Edition, EditionKind, Front, TopStories } from './model.ts';
import { sections } from './sections.ts';

interface Author {
  readonly slug: string;
  readonly name: string;
  readonly bio: string;
  readonly beat?: string;
  readonly role?: string;
  readonly motif?: string;
}

interface Series {
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly author: string;
  readonly category: string;
  readonly motif: string;
  readonly hours: number;
}

interface Video {
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly body: string;
  readonly author: string;
  readonly section: string;
  readonly youtube: string;
  readonly hours: number;
  readonly motif?: string;
  readonly alt?: string;
  readonly caption?: string;
  readonly credit?: string;
}

/** An entry of a story that is covered live. */
interface LiveEntry {
  readonly story: string;
  readonly slug: string;
  /** Possibly empty. */
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly hours: number;
  readonly pinned?: boolean;
  readonly key?: boolean;
}

const here = import.meta.dirname;
const ACCESS = ['default', 'free', 'registered', 'subscriber'];

/**
 * @param wordpress address of WordPress, where crosswords are played
 * @param kind `tests` adds the awkward posts
 * @throws naming the file and the invalid field
 */
export function readEdition(wordpress: string, kind: Exclude<EditionKind, 'none'>): Edition {
  const authors = readJson<Author[]>('authors.json') ?? [];
  const texts = markdownFilesIn('articles');
  const articles = texts.map(articleOf);
  const documents = [
    ...authors.map(authorOf),
    ...(readJson<Series[]>('podcasts.json') ?? []).map(seriesOf),
    ...articles,
    ...(readJson<LiveEntry[]>('live.json') ?? []).map(liveEntryOf),
    ...(readJson<Video[]>('videos.json') ?? []).map(videoOf),
    ...puzzles().map((puzzle) => crosswordOf(puzzle, wordpress)),
    ...markdownFilesIn('pages').map(pageOf),
    ...(kind === 'tests' ? awkward.map(awkwardDocumentOf) : []),
  ];
  checkNames(documents, new Set(authors.map(({ slug }) => slug)));
  return {
    documents,
    comments: readJson<Comment[]>('comments.json') ?? [],
    topStories: topStoriesOf(texts),
    fronts: readJson<Front[]>('fronts.json') ?? [],
    footer: [
      { title: 'About The Sun', path: '/about' },
      { title: 'RSS Feeds', path: '/about#rss-feeds' },
      { title: 'Events', path: '/events' },
      { title: 'Newsletters', path: '/newsletter' },
      { title: 'Op-Ed Guidelines', path: '/oped-guidelines' },
      { title: 'Privacy Policy', path: '/privacy-policy' },
      { title: 'Terms of Use', path: '/privacy-policy#Terms-of-use' },
    ],
  };
}

/** The page that plays a crossword, or `undefined` when no crossword has this slug. */
export function crosswordHtml(slug: string): string | undefined {
  const puzzle = puzzles().find((candidate) => candidate.slug === slug);
  return puzzle && crosswordPage(puzzle);
}

function readJson<T>(name: string): T | undefined {
  const file = path.join(here, name);
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as T) : undefined;
}

function markdownFilesIn(folder: string): (MarkdownFile & { readonly slug: string })[] {
  const full = path.join(here, folder);
  if (!fs.existsSync(full)) return [];
  return fs
    .readdirSync(full)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => ({
      ...parseMarkdownFile(`${folder}/${name}`, fs.readFileSync(path.join(full, name), 'utf8')),
      slug: path.basename(name, '.md'),
    }));
}

function articleOf(text: MarkdownFile & { readonly slug: string }): Document {
  const hours = numberIn(text, 'hours');
  if (hours === undefined) throw new Error(`${text.source}: "hours" is missing`);
  const access = text.fields.access || 'default';
  if (!ACCESS.includes(access)) throw new Error(`${text.source}: "access" is "${access}"`);
  const { motif, caption = '', credit = '', agency } = text.fields;
  const [author = '', ...authors] = listIn(text, 'author');
  return {
    type: 'articles',
    slug: text.fields.slug || text.slug,
    status: 'publish',
    title: escapeText(required(text, 'title')),
    content: markdownToBlocks(text.body),
    excerpt: text.fields.excerpt ?? '',
    author,
    authors,
    contributors: listIn(text, 'contributors'),
    sections: listIn(text, 'section'),
    hours,
    picture: motif ? { motif, seed: text.slug, alt: altTextOf(motif), caption, credit } : undefined,
    corrections: correctionsOf(text),
    sound: soundOf(text),
    meta: {
      newsroom_access: access,
      ...(agency && { newsroom_agency: agency }),
      ...(text.fields.live && { newsroom_live: text.fields.live }),
      ...headlineTestOf(text),
      ...episodeMetaOf(text),
    },
  };
}

function liveEntryOf({ story, slug, title, body, author, hours, pinned = false, key = false }: LiveEntry): Document {
  return {
    type: 'live-entry',
    slug,
    status: 'publish',
    title: escapeText(title),
    content: markdownToBlocks(body),
    excerpt: '',
    author,
    sections: [],
    hours,
    story,
    meta: { newsroom_pinned: pinned ? '1' : '0', newsroom_key_event: key ? '1' : '0' },
  };
}

/** `correction` is the text of a story's note, `corrected` its age in hours. */
function correctionsOf(text: MarkdownFile): Document['corrections'] {
  const { correction } = text.fields;
  if (!correction) return [];
  const hours = numberIn(text, 'corrected');
  if (hours === undefined) throw new Error(`${text.source}: "corrected" is missing`);
  return [{ kind: 'correction', text: correction, hours }];
}

/** `headline` is another headline of a story: a headline test compares both from the import on. */
function headlineTestOf(text: MarkdownFile): Document['meta'] {
  const { headline } = text.fields;
  if (!headline) return {};
  return { newsroom_headline_test: { state: 'running', variants: [{ headline, image: 0 }] } };
}

/** `sound` is the seconds of a story's recording, `series` the slug of its series. */
function soundOf(text: MarkdownFile): Document['sound'] {
  const seconds = numberIn(text, 'sound');
  return seconds === undefined ? undefined : { seconds, series: text.fields.series ?? '' };
}

const episodeMetaOf = (text: MarkdownFile): Document['meta'] =>
  numberIn(text, 'sound') === undefined
    ? {}
    : {
        newsroom_episode_title: text.fields.episode ?? '',
        newsroom_chapters: listIn(text, 'chapters', '|').join('\n'),
        newsroom_transcript: text.fields.transcript ?? '',
      };

function seriesOf({ slug, title, excerpt, author, category, motif, hours }: Series): Document {
  return {
    type: 'podcasts',
    slug,
    status: 'publish',
    title: escapeText(title),
    content: markdownToBlocks(excerpt),
    excerpt,
    author: '',
    sections: [],
    hours,
    picture: { motif, seed: `series-${slug}`, alt: altTextOf(motif), caption: '', credit: 'Illustration: The Sun', square: true },
    meta: { newsroom_series_author: author, newsroom_series_category: category },
  };
}

function pageOf(text: MarkdownFile & { readonly slug: string }): Document {
  return {
    type: 'page',
    slug: text.fields.slug || text.slug,
    status: 'publish',
    title: escapeText(required(text, 'title')),
    content: markdownToBlocks(text.body),
    excerpt: text.fields.excerpt ?? '',
    author: '',
    sections: [],
    hours: numberIn(text, 'hours') ?? 24 * 30,
    meta: {},
  };
}

function authorOf({ slug, name, bio, role, motif }: Author): Document {
  return {
    type: 'authors',
    slug,
    status: 'publish',
    title: escapeText(name),
    content: markdownToBlocks(bio),
    excerpt: bio,
    author: '',
    sections: [],
    hours: 24 * 60,
    picture: motif ? { motif, seed: slug, alt: name, caption: '', credit: '' } : undefined,
    meta: role ? { newsroom_role: role } : {},
  };
}

function videoOf(video: Video): Document {
  const { slug, title, excerpt, body, author, section, youtube, hours, motif, caption, credit } = video;
  return {
    type: 'video',
    slug,
    status: 'publish',
    title: escapeText(title),
    content: body.trimStart().startsWith('<p') ? htmlToBlocks(body) : markdownToBlocks(body),
    excerpt,
    author: author ?? '',
    sections: section
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
    hours,
    picture: motif
      ? { motif, seed: slug, alt: altTextOf(motif), caption: caption ?? '', credit: credit ?? 'Illustration: The Sun' }
      : undefined,
    meta: {
      newsroom_video_url: /^https?:/.test(youtube) ? youtube : `https://www.youtube.com/watch?v=${youtube}`,
    },
  };
}

function crosswordOf({ slug, title, author, hours }: Puzzle, wordpress: string): Document {
  const source = `${wordpress}/sandbox/crosswords/${slug}`;
  return {
    type: 'crosswords',
    slug,
    status: 'publish',
    title: escapeText(title),
    content: '',
    excerpt: '',
    author,
    sections: [],
    hours,
    meta: {
      newsroom_iframe: `<iframe src="${source}" title="${escapeText(title).replaceAll('"', '&quot;')}" width="100%" height="720" loading="lazy"></iframe>`,
    },
  };
}

/** What the pictures of a motif show. */
const altTextOf = (motif: string) => (descriptions as Readonly<Record<string, string>>)[motif] ?? '';

/** Fields of `acf` on the left, the plugin's meta keys on the right; unknown names pass unchanged. */
const META_KEYS: Readonly<Record<string, string>> = {
  access: 'newsroom_access',
  video_url: 'newsroom_video_url',
  iframe: 'newsroom_iframe',
  top_articles: 'newsroom_top_articles',
  breaking: 'newsroom_breaking',
  featured_excerpt: 'newsroom_featured_excerpt',
  bulleted_featured_excerpt: 'newsroom_bulleted',
};

function awkwardDocumentOf(post: AwkwardPost): Document {
  return {
    type: post.type,
    slug: post.slug,
    status: post.status,
    title: post.title,
    content: post.contentHtml,
    excerpt: post.excerpt ?? '',
    author: post.author ?? '',
    sections: post.sections ?? [],
    hours: post.hours ?? 24,
    date: post.date,
    password: post.password,
    picture: post.image
      ? { alt: altTextOf(post.image.motif), caption: '', credit: '', ...post.image, seed: `${post.type}-${post.slug.replaceAll('%', '')}` }
      : undefined,
    meta: Object.fromEntries(Object.entries(post.acf ?? {}).map(([name, value]) => [META_KEYS[name] ?? name, value])),
  };
}

/** The front page: every article with a place, in the order of the places; the first is the lead. */
function topStoriesOf(texts: readonly (MarkdownFile & { readonly slug: string })[]): TopStories {
  const placed = texts
    .flatMap((text) => {
      const place = numberIn(text, 'top');
      return place === undefined ? [] : [{ text, place }];
    })
    .sort((a, b) => a.place - b.place);
  const lead = placed[0]?.text;
  return {
    articles: placed.map(({ text }) => text.fields.slug || text.slug),
    breaking: lead ? flagIn(lead, 'breaking') : false,
    bulleted: lead ? flagIn(lead, 'bulleted') : false,
    excerpt: lead ? listIn(lead, 'featured', '|').join('\n') : '',
  };
}

/** A misspelled author, section or series would silently lose a byline or a story, so it is an error. */
function checkNames(documents: readonly Document[], authors: ReadonlySet<string>) {
  const known = new Set(sections.map(({ slug }) => slug));
  const series = new Set(documents.filter(({ type }) => type === 'podcasts').map(({ slug }) => slug));
  const problems = documents.flatMap(
    ({ type, slug, author, authors: others = [], contributors = [], sections: named, sound }) => [
      ...(sound?.series && !series.has(sound.series) ? [`${type}/${slug}: no series "${sound.series}"`] : []),
      ...[author, ...others, ...contributors]
        .filter((name) => name !== '' && !authors.has(name))
        .map((name) => `${type}/${slug}: no author "${name}"`),
      ...named.filter((name) => !known.has(name)).map((name) => `${type}/${slug}: no section "${name}"`),
    ],
  );
  if (problems.length > 0) throw new Error(`The demo edition does not fit together:\n${problems.join('\n')}`);
}
