/**
 * WordPress's responses, one schema for each read of spec section 7 ("Content backend") and docs/content-api.md. The schemas are
 * tolerant where WordPress and Advanced Custom Fields are known to vary, and strict where a page would break or a paid body would
 * become public.
 */
import { z } from 'zod';
import { type AccessLevel, accessLevels, correctionKinds, type LiveCoverage } from '../../lib/content/model.ts';
import { mostHeadlines, testIdForm } from '../../lib/headline-tests/model.ts';
import { acfOrEmpty, acfWith, authors, byline, categorized, imageOf, post, type WireImage } from './post.ts';
import {
  count,
  flag,
  id,
  idOf,
  ids,
  instant,
  instantOf,
  isNone,
  isObject,
  looseObject,
  members,
  optionalNumber,
  reading,
  requiredRendered,
  requiredText,
  slugText,
  text,
  textIn,
} from './values.ts';

/** The fields of every post that are read before the rest: whether the site may show it at all. */
export const envelope = z.object({
  id,
  slug: text.optional(),
  status: z.string().default('publish'),
  modified_gmt: z.unknown(),
  content: z.unknown(),
});

/** `access` decides who may read: an unknown value must never make a body public. */
const access = reading<AccessLevel>('access: default, free, registered or subscriber', (value) => {
  if (isNone(value)) return { value: 'default' };
  const level = accessLevels.find((one) => one === value);
  return level ? { value: level } : null;
});

const noteOf = (value: unknown): WireCorrection | null => {
  if (!isObject(value) || typeof value.text !== 'string') return null;
  const kind = correctionKinds.find((known) => known === value.kind);
  const date = instantOf(value.date);
  return kind && date !== null ? { kind, date, text: value.text } : null;
};

export interface WireCorrection {
  readonly kind: (typeof correctionKinds)[number];
  readonly date: string;
  /** Markup. */
  readonly text: string;
}

/** When a story's words last changed; `null` for a draft. Older plugins have no `edited`. */
const edited = reading('a time', (value) => ({ value: instantOf(value) }));

/** Older plugins have no `corrections`. An unreadable note is left out, and doesn't reject the story. */
const corrections = reading('a list of notes with kind, date and text', (value) => ({
  value: members(value)
    .map(noteOf)
    .filter((note) => note !== null),
}));

const soundObject = z.object({
  audio: z.object({ url: text.optional(), type: text, bytes: count, seconds: count }),
  title: text.optional(),
  chapters: z.unknown(),
  transcript: text.optional(),
  series: optionalNumber.optional(),
});

export interface WireSound {
  /** `''` when WordPress withholds it. */
  readonly url: string;
  readonly type: string;
  readonly bytes: number;
  readonly seconds: number;
  readonly title: string;
  readonly chapters: readonly { readonly start: number; readonly title: string }[];
  readonly transcript: string;
  readonly series: number | null;
}

const chapterOf = (value: unknown): { start: number; title: string } | null => {
  if (!isObject(value) || typeof value.title !== 'string') return null;
  const { start } = value;
  return typeof start === 'number' && Number.isSafeInteger(start) && start >= 0 ? { start, title: value.title } : null;
};

/** Older plugins have no `sound`. An unreadable sound or chapter is left out, and doesn't reject the story. */
const sound = z.unknown().transform((value): WireSound | null => {
  const parsed = soundObject.safeParse(value);
  if (!parsed.success) return null;
  const { audio, title = '', chapters, transcript = '', series = null } = parsed.data;
  const { url = '', type, bytes, seconds } = audio;
  const known = members(chapters)
    .map(chapterOf)
    .filter((chapter) => chapter !== null);
  return { url, type, bytes, seconds, title, chapters: known, transcript, series: idOf(series) };
});

/** Older plugins have no `live`. */
const live = reading('null, or live coverage with state, started and ended', (value) => {
  if (isNone(value) || (isObject(value) && isNone(value.state))) return { value: null as LiveCoverage | null };
  if (!isObject(value)) return null;
  const state = (['live', 'ended'] as const).find((known) => known === value.state);
  return state ? { value: { state, started: instantOf(value.started), ended: instantOf(value.ended) } } : null;
});

export interface WireTest {
  readonly id: string;
  readonly state: 'running' | 'won';
  readonly started: string;
  /** The headlines in addition to the story's own; for a finished test, only the winner. */
  readonly others: readonly { readonly headline: string; readonly image: WireImage | null }[];
}

/** Most headlines in addition to the story's own. */
const mostOthers = mostHeadlines - 1;

const testOf = (value: unknown): WireTest | null => {
  if (!isObject(value) || typeof value.id !== 'string' || !testIdForm.test(value.id)) return null;
  const state = (['running', 'won'] as const).find((known) => known === value.state);
  const started = instantOf(value.started);
  const others = members(value.others).map((each) => {
    const headline = isObject(each) ? textIn(each.headline) : null;
    return headline === null ? null : { headline, image: imageOf((each as { image?: unknown }).image)?.value ?? null };
  });
  const known = others.filter((other) => other !== null);
  const fits = known.length === others.length && known.length > 0 && known.length <= mostOthers;
  return state && started !== null && fits ? { id: value.id, state, started, others: known } : null;
};

/** Older plugins have no `headline_test`. An unreadable test is left out, and doesn't reject the story. */
const headlineTest = z.unknown().transform(testOf);

export const article = z.object({
  ...post,
  ...categorized,
  acf: acfWith({ author: authors.optional() }),
  byline: byline.optional(),
  access: access.optional(),
  restricted: flag.optional(),
  comment_status: text.optional(),
  corrections: corrections.optional(),
  edited: edited.optional(),
  sound: sound.optional(),
  live: live.optional(),
  headline_test: headlineTest.optional(),
});

/** An entry of a live story. */
export const liveEntry = z.object({
  ...post,
  acf: acfWith({ author: authors.optional() }),
  entry: z.object({ story: id, pinned: flag.optional(), key_event: flag.optional() }),
});

export const video = z.object({
  ...post,
  ...categorized,
  acf: acfWith({
    author: authors.optional(),
    /** An address, or the player's markup with the address, as ACF's oEmbed field sends it. */
    video_url: reading('an address', (value) => {
      if (isNone(value)) return { value: '' };
      if (typeof value === 'string') return { value };
      return isObject(value) && typeof value.url === 'string' ? { value: value.url } : null;
    }).optional(),
  }),
});

export const crossword = z.object({
  ...post,
  ...categorized,
  acf: acfWith({ author: authors.optional(), iframe: text.optional() }),
});

export const authorPost = z.object({ ...post, role: text.optional() });

/** A series. `access` decides who may listen: an unknown value must never open it. */
export const podcast = z.object({
  ...post,
  series: z
    .object({
      guid: text.optional(),
      language: text.optional(),
      author: text.optional(),
      email: text.optional(),
      category: z.array(z.string()).optional(),
      explicit: flag.optional(),
      access: z.enum(['everyone', 'subscriber'], { error: 'expected access: everyone or subscriber' }),
    })
    .optional(),
});

export type WirePodcast = z.infer<typeof podcast>;

export const page = z.object({ ...post, acf: z.preprocess(acfOrEmpty, looseObject), parent: count.optional() });

/** `acf` of the page `top-stories-2`. */
export const topStories = z.object({
  top_articles: ids.optional(),
  breaking: flag.optional(),
  featured_excerpt: text.optional(),
  bulleted_featured_excerpt: flag.optional(),
});

export const category = z.object({
  id,
  name: requiredText,
  slug: slugText,
  newsroom: z
    .object({
      label: text.optional(),
      navigation_position: optionalNumber.optional(),
      home_count: optionalNumber.optional(),
      color: text.optional(),
      show_in_media: flag.optional(),
      // Former slugs; older plugins don't send them.
      former_slugs: z.array(z.string()).catch([]).optional(),
    })
    .nullish(),
});

export const menus = z.array(
  z.object({ location: requiredText, items: z.array(z.object({ title: text, url: text })) }),
  { error: 'expected a list of menus' },
);

export const comment = z.object({
  id,
  post: id,
  parent: count,
  author_name: text.optional(),
  date_gmt: instant,
  content: requiredRendered,
  status: z.string().default('approved'),
});

/** `GET /newsroom/v1/alert`. */
export const alert = z.object({
  alert: z
    .object({
      id: z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u, { error: 'expected a UUID' }),
      text: requiredText,
      link: text.optional(),
      starts: instant,
      until: instant,
      mail: flag.optional(),
      push: flag.optional(),
    })
    .nullable(),
});

/** `GET /newsroom/v1/status`. */
export const pluginStatus = z.object({
  plugin: text,
  credentials: flag,
  uploads: text.optional(),
  signed_in: flag.optional(),
  signs_in: flag.optional(),
  /** Whether the site may link readers to WordPress itself. */
  public: flag.optional(),
  /** Problems between the site and WordPress, for the operator, each with its remedy. */
  problems: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
});

/** `GET /newsroom/v1/changes`. */
export const changes = z.array(
  z.object({ row: count, delivery: z.string(), event: z.string(), type: z.string(), id: count }),
);

/** A document with the few fields that polls and walks read (`_fields=id,modified,modified_gmt,slug,status`). */
export const summary = z.object({
  id,
  modified_gmt: instant,
  slug: text.optional(),
  status: z.string().default('publish'),
});

/** Body of a webhook. */
export const webhook = z.object({
  event: z.enum([
    'publish',
    'update',
    'unpublish',
    'trash',
    'delete',
    'slug',
    'term',
    'author',
    'menu',
    'comment',
    'test',
  ]),
  type: z.enum([
    'articles',
    'live-entries',
    'video',
    'crosswords',
    'authors',
    'podcasts',
    'fronts',
    'pages',
    'categories',
    'menus',
    'alerts',
    // Files of the media library.
    'media',
    // Only asks for the site's counts of a headline test; nothing changed.
    'headline-tests',
    'comments',
    'site',
  ]),
  id: count,
  slug: z.string().nullish(),
  previous_slug: z.string().nullish(),
  /** For `media`: current and former addresses of the changed files. If empty, many files changed that aren't named. */
  addresses: z.array(z.string()).max(200).nullish(),
});
