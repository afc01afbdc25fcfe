/**
 * Turns a response of WordPress into a document of the site: validated against its wire schema, sanitized, in the site's own terms. An
 * invalid document comes back as a rejection that names the field and the problem, never as an exception.
 */
import type { z } from 'zod';
import type { Author, Correction, DocumentType, Picture } from '../../lib/content/model.ts';
import { instantAt } from '../../lib/instants.ts';
import { countWords, readingMinutes, truncateAtWord } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import { front } from '../wire/front.ts';
import type { WireAuthor, WireImage } from '../wire/post.ts';
import * as wire from '../wire/schemas.ts';
import { canonicalSlug, instantOf, type Rejection, rejectionOf } from '../wire/values.ts';
import { addressOn, firstWebAddress, isSvg, webAddress, youtubeId } from './addresses.ts';
import { openingOf, shapeBody, shapeComment, shapeNote } from './body.server.ts';
import { type BodyContext, isAllowedPicture } from './body-media.server.ts';
import {
  type DocumentFacts,
  type IngestedComment,
  type IngestedDocument,
  type TopStoriesChoice,
  topStoriesSlug,
} from './document.ts';
import { frontOf, longestHeadline } from './front.server.ts';
import { type Sanitizer, textOf } from './sanitize.server.ts';
import { podcastDetails, soundFacts, soundOf } from './sound.server.ts';

export interface IngestContext extends Omit<BodyContext, 'base'> {
  /** A preview accepts any status; a draft may lack a slug and a date. */
  readonly preview?: boolean;
}

/** What the steps of one document share. */
interface Steps extends BodyContext {
  readonly sanitizer: Sanitizer;
}

export type Ingested<T> =
  | { readonly kind: 'document'; readonly document: T }
  /** The document exists, but readers may not see it: it is a draft, scheduled, private or password-protected. */
  | { readonly kind: 'withheld'; readonly id: number }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

const schemas = {
  articles: wire.article,
  'live-entries': wire.liveEntry,
  video: wire.video,
  crosswords: wire.crossword,
  authors: wire.authorPost,
  podcasts: wire.podcast,
  fronts: front,
  pages: wire.page,
} as const;

type WirePost = z.infer<typeof wire.article> &
  Partial<z.infer<typeof wire.liveEntry>> &
  Partial<z.infer<typeof wire.video>> &
  Partial<z.infer<typeof wire.authorPost>> &
  Partial<z.infer<typeof wire.crossword>> &
  Partial<wire.WirePodcast> &
  Partial<Pick<z.infer<typeof wire.page>, 'parent'>> &
  Partial<z.infer<typeof front>>;

/** Highest heading level in an entry of a live story: the entry's own headline is an h3. */
const entryHeading = 4;

/** Ingests one document. */
export async function ingestDocument(
  sanitizer: Sanitizer,
  type: DocumentType,
  raw: unknown,
  context: IngestContext,
): Promise<Ingested<IngestedDocument>> {
  const envelope = wire.envelope.safeParse(raw);
  if (!envelope.success) return { kind: 'rejected', rejection: rejectionOf(type, raw, envelope.error) };
  const isProtected = (envelope.data.content as { protected?: unknown } | null | undefined)?.protected === true;
  if (!context.preview && (envelope.data.status !== 'publish' || isProtected))
    return { kind: 'withheld', id: envelope.data.id };
  const parsed = schemas[type].safeParse(context.preview ? withDraftDefaults(raw) : raw);
  if (!parsed.success) return { kind: 'rejected', rejection: rejectionOf(type, raw, parsed.error) };
  const post = parsed.data as unknown as WirePost;
  let choice: TopStoriesChoice | null = null;
  if (type === 'pages' && canonicalSlug(post.slug) === topStoriesSlug) {
    const acf = wire.topStories.safeParse(post.acf);
    if (!acf.success) {
      const rejection = rejectionOf(type, post.acf, acf.error);
      return {
        kind: 'rejected',
        rejection: { ...rejection, id: post.id, field: `acf.${rejection.field}`, modified: post.modified_gmt },
      };
    }
    choice = {
      ids: acf.data.top_articles ?? [],
      breaking: acf.data.breaking ?? false,
      bulleted: acf.data.bulleted_featured_excerpt ?? false,
      featuredExcerpt: sanitizer.lines(acf.data.featured_excerpt ?? ''),
    };
  }
  const steps = { ...context, sanitizer, base: baseOf(post.link ?? '', context.wordpress) };
  return { kind: 'document', document: await documentOf(type, post, choice, steps) };
}

/** A draft has no slug and no date yet; a preview shows it as if it were published now. */
function withDraftDefaults(raw: unknown): unknown {
  const draft = raw as Record<string, unknown>;
  const now = instantAt(Date.now());
  return {
    ...draft,
    slug: typeof draft.slug === 'string' && draft.slug !== '' ? draft.slug : `preview-${draft.id}`,
    date_gmt: instantOf(draft.date_gmt) ?? now,
    modified_gmt: instantOf(draft.modified_gmt) ?? now,
  };
}

/** The base of relative addresses in a document: its own address, if that is WordPress's. */
function baseOf(link: string, wordpress: string): string {
  const url = webAddress(link, wordpress);
  return url && url.origin === new URL(wordpress).origin ? url.href : `${wordpress}/`;
}

async function documentOf(
  type: DocumentType,
  post: WirePost,
  topStories: TopStoriesChoice | null,
  steps: Steps,
): Promise<IngestedDocument> {
  const { sanitizer } = steps;
  const heading = type === 'live-entries' ? entryHeading : undefined;
  const shaped = await shapeBody(sanitizer, post.content?.rendered ?? '', steps, heading);
  const bodyText = textOf(shaped.body).replace(/\s+/gu, ' ').trim();
  const words = countWords(bodyText);
  const access = post.access ?? 'default';
  const restricted = post.restricted ?? false;
  const opening =
    type !== 'articles'
      ? ''
      : restricted
        ? shaped.html
        : sanitizer.finish(openingOf(shaped.body, bodyText), shaped.altered);
  const credited = await bylineOf(type, post, steps);
  const sound = type === 'articles' ? soundOf(post.sound, steps) : null;
  const isPaid = access === 'registered' || access === 'subscriber';
  const excerptLimit = type === 'authors' ? longestBiography : publication.limits.excerpt;
  return {
    type,
    id: post.id,
    slug: post.slug,
    title: sanitizer.line(post.title.rendered) || titleFallback(type, post),
    excerpt: truncateAtWord(excerptOf(sanitizer, post), excerptLimit),
    image: await pictureOf(post.image ?? null, steps),
    ...credited.people,
    terms: post.category ?? post.categories ?? [],
    date: post.date_gmt,
    modified: post.modified_gmt,
    facts: {
      ...factsOf(type, post, { access, restricted, words }, steps.frameHosts),
      ...editedOf(post),
      ...correctionsOf(post, steps),
      ...credited.facts,
      ...roleOf(post, steps),
      ...soundFacts(sound),
      ...(post.front && {
        front: await frontOf(sanitizer, post.front, steps, (image) => pictureOf(image, steps)),
      }),
      ...(await headlineTestOf(post, steps)),
    },
    ...(sound && { sound }),
    bodyHtml: shaped.html,
    openingHtml: opening,
    searchText: isPaid ? sanitizer.line(opening) : bodyText,
    oldSlugs: post.old_slugs ?? [],
    topStories,
  };
}

/** The excerpt as text. One that WordPress has cut from the story ends in `[…]`. */
const excerptOf = (sanitizer: Sanitizer, { excerpt }: WirePost): string =>
  sanitizer.line(excerpt?.rendered ?? '').replace(/\s*\[(?:…|\.\.\.)\]$/u, '…');

/** Longest name of an agency or a commenter, and role of an author, characters. The plugin allows the same. */
const longestLine = 100;
/** Longest biography of an author, characters. */
const longestBiography = 2000;

/** Who made a document: the people as the content store needs them, and a byline if there is more than one author. */
async function bylineOf(
  type: DocumentType,
  post: WirePost,
  steps: Steps,
): Promise<{
  readonly people: Pick<IngestedDocument, 'authorId' | 'author' | 'others'>;
  readonly facts: Pick<DocumentFacts, 'byline'>;
}> {
  const given = post.byline;
  const named = given && given.authors.length > 0 ? given.authors : (post.acf?.author ?? []);
  const authors = type === 'articles' ? named : named.slice(0, 1);
  const contributors = (given?.contributors ?? []).filter(({ id }) => !authors.some((author) => author.id === id));
  const name = steps.sanitizer.line(given?.agency?.name ?? '', longestLine);
  const agency = name === '' ? null : { name, url: webAddress(given?.agency?.url ?? '')?.href ?? '' };
  const [first = null, ...others] = await Promise.all(
    [...authors, ...contributors].map((person) => authorOf(person, steps)),
  );
  const isAlone = authors.length <= 1 && contributors.length === 0 && agency === null;
  const embedded = others.filter((author) => author !== null);
  const idsOf = (people: readonly WireAuthor[]): number[] => people.map(({ id }) => id);
  if (isAlone) return { people: { authorId: authors[0]?.id ?? null, author: first }, facts: {} };
  // Without authors, the first contributor takes that place.
  const [author, rest] = authors.length > 0 ? [first, embedded] : [null, first ? [first, ...embedded] : embedded];
  return {
    people: { authorId: authors[0]?.id ?? null, author, others: rest },
    facts: { byline: { authors: idsOf(authors), contributors: idsOf(contributors), agency } },
  };
}

function roleOf(post: WirePost, { sanitizer }: Steps): Pick<DocumentFacts, 'role'> {
  const role = sanitizer.line(post.role ?? '', longestLine);
  return role === '' ? {} : { role };
}

/** A test with an empty headline is left out: its counts would be wrong. */
async function headlineTestOf({ headline_test: given }: WirePost, steps: Steps): Promise<Pick<DocumentFacts, 'test'>> {
  if (!given) return {};
  const { id, state, started } = given;
  const others = await Promise.all(
    given.others.map(async ({ headline, image }) => ({
      title: steps.sanitizer.line(headline, longestHeadline),
      image: await pictureOf(image, steps),
    })),
  );
  return others.some(({ title }) => title === '') ? {} : { test: { id, state, started, others } };
}

/** Replaces an empty title; an entry of a live story needs none. */
const titleFallback = (type: DocumentType, { slug }: WirePost): string =>
  type === 'authors' ? canonicalSlug(slug) : type === 'live-entries' ? '' : 'Untitled';

/** The plugin allows fewer notes and characters; these limits are for content from elsewhere. */
const mostNotes = 50;
const longestNote = 3000;

/** A story is never changed before its date: it may have been scheduled, or given a later date. */
function editedOf({ edited, date_gmt, modified_gmt }: WirePost): Pick<DocumentFacts, 'edited'> {
  if (!edited || edited >= modified_gmt) return {};
  return { edited: edited > date_gmt ? edited : date_gmt };
}

/** Notes without a text are left out; a story without notes has no such fact. */
function correctionsOf(post: WirePost, steps: Steps): Pick<DocumentFacts, 'corrections'> {
  const notes = (post.corrections ?? []).slice(0, mostNotes).flatMap(({ kind, date, text }): Correction[] => {
    const html = shapeNote(steps.sanitizer, text, steps, longestNote);
    return html === '' ? [] : [{ kind, date, html }];
  });
  if (notes.length === 0) return {};
  return { corrections: notes.toSorted((a, b) => (a.date === b.date ? 0 : a.date < b.date ? 1 : -1)) };
}

function factsOf(
  type: DocumentType,
  post: WirePost,
  { access, restricted, words }: Required<Pick<DocumentFacts, 'access' | 'restricted' | 'words'>>,
  frameHosts: readonly string[],
): DocumentFacts {
  switch (type) {
    case 'articles':
      return {
        access,
        restricted,
        words,
        minutes: readingMinutes(words),
        commentsOpen: post.comment_status === 'open',
        ...(post.live && { live: post.live }),
      };
    case 'live-entries':
      return {
        story: post.entry?.story ?? 0,
        pinned: post.entry?.pinned ?? false,
        keyEvent: post.entry?.key_event ?? false,
      };
    case 'video': {
      const link = post.acf?.video_url ?? '';
      const address = /[<\s]/u.test(link.trim()) ? firstWebAddress(link) : link;
      const url = webAddress(address)?.href ?? '';
      return { videoUrl: url, providerId: youtubeId(url) };
    }
    case 'crosswords':
      return { iframeSrc: addressOn(frameHosts, webAddress(firstWebAddress(post.acf?.iframe ?? ''))) ?? '' };
    case 'podcasts':
      return { podcast: podcastDetails(post.series) };
    case 'pages':
      return (post.parent ?? 0) > 0 ? { child: true } : {};
    default:
      return {};
  }
}

async function authorOf({ id, details }: WireAuthor, steps: Steps): Promise<Author | null> {
  if (!details) return null;
  const { sanitizer } = steps;
  const { name, slug, excerpt, image } = details;
  return {
    id,
    name: sanitizer.line(name) || canonicalSlug(slug),
    slug: canonicalSlug(slug),
    excerpt: sanitizer.line(excerpt, longestBiography),
    image: await pictureOf(image, steps),
  };
}

/** A picture with known dimensions; `null` if the image path can't serve it. */
async function pictureOf(image: WireImage | null, steps: Steps): Promise<Picture | null> {
  if (!image) return null;
  const { sanitizer } = steps;
  const url = webAddress(image.url, steps.base);
  if (!url || isSvg(url)) return null;
  const stated = image.width && image.height ? { width: image.width, height: image.height } : null;
  const isAllowed = isAllowedPicture(url.href, steps);
  const known = (isAllowed && stated) || (await steps.measure(url.href));
  if (!known && !isAllowed) return null;
  return {
    url: url.href,
    alt: sanitizer.line(image.alt),
    width: known?.width ?? null,
    height: known?.height ?? null,
    caption: sanitizer.line(image.caption),
    credit: sanitizer.line(image.credit),
  };
}

/** Ingests one comment. */
export function ingestComment(sanitizer: Sanitizer, raw: unknown, context: IngestContext): Ingested<IngestedComment> {
  const parsed = wire.comment.safeParse(raw);
  if (!parsed.success) return { kind: 'rejected', rejection: rejectionOf('comments', raw, parsed.error) };
  const { id, post, parent, author_name, date_gmt, content, status } = parsed.data;
  if (status !== 'approved') return { kind: 'withheld', id };
  const contentHtml = shapeComment(sanitizer, content.rendered, { ...context, base: `${context.wordpress}/` });
  return {
    kind: 'document',
    document: {
      id,
      post,
      parent,
      author: sanitizer.line(author_name ?? '', longestLine) || 'Anonymous',
      contentHtml,
      date: date_gmt,
    },
  };
}
