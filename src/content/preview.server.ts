/** Previews: a draft as it will look, through the same ingest, never stored (docs/content-api.md, "Preview"). */

import type { Article, Author, DocumentType, Podcast } from '../lib/content/model.ts';
import { sectionOfFront, slotsAt } from '../lib/fronts/model.ts';
import { instantAt } from '../lib/instants.ts';
import type { IngestedDocument } from './ingest/document.ts';
import type { PreviewAnswer, PreviewDocument } from './service.ts';
import { resolveLinks } from './store/body-links.ts';
import type { ContentStore } from './store/content-store.server.ts';
import { findById } from './store/read.server.ts';
import { authorOf, podcastOf, sectionTable } from './store/rows.server.ts';
import type { SyncContext } from './sync/refresh.server.ts';
import { matches, sign } from './sync/webhook.server.ts';
import { type Client, describeFailure } from './wire/client.server.ts';
import { fetchOne } from './wire/fetch.server.ts';

/** How long a preview link works (docs/content-api.md), and by how much the clocks of WordPress and the site may differ. */
const linkSeconds = 600;
const clockSeconds = 60;
const previewTypes: readonly string[] = ['articles', 'video', 'crosswords', 'pages', 'fronts'];

export interface PreviewOptions extends Pick<SyncContext, 'store' | 'client' | 'ingester' | 'now'> {
  readonly secret: string | undefined;
}

/** Creates the previews of one WordPress. */
export function createPreview({
  store,
  client,
  ingester,
  now,
  secret,
}: PreviewOptions): (params: URLSearchParams) => Promise<PreviewAnswer> {
  return async (params) => {
    if (!secret || !client.signsIn)
      return { status: 501, error: 'Previews are off: they need the shared secret and an application password.' };
    const [type, id, expires, signature] = ['type', 'id', 'expires', 'signature'].map((name) => params.get(name) ?? '');
    if (
      !type ||
      !previewTypes.includes(type) ||
      !/^[1-9]\d{0,15}$/u.test(id ?? '') ||
      !/^\d{1,12}$/u.test(expires ?? '')
    ) {
      return { status: 400, error: 'This preview link is not complete.' };
    }
    if (!matches(sign(secret, `preview.${type}.${id}.${expires}`), signature ?? ''))
      return { status: 401, error: 'This preview link is not valid.' };
    const secondsLeft = Number(expires) - now() / 1000;
    if (secondsLeft <= 0 || secondsLeft > linkSeconds + clockSeconds)
      return { status: 410, error: 'This preview link has expired: press Preview again.' };
    const kind = type as DocumentType;
    const found = await fetchOne(client, kind, Number(id), { tries: 2 });
    if (found.kind === 'gone')
      return { status: 404, error: 'WordPress has no such document, or the site may not read it.' };
    if (found.kind === 'failed')
      return { status: 502, error: `WordPress could not be read: ${describeFailure(found.failure)}` };
    const stored = found.raw as Record<string, unknown>;
    const raw =
      kind === 'fronts'
        ? await withDraft(client, Number(id), stored)
        : await withPicture(
            client,
            await withAutosave(client, kind, Number(id), stored),
            params.get('_thumbnail_id') ?? '',
          );
    const result = await ingester.document(kind, raw, true);
    if (result.kind !== 'document') {
      const why =
        result.kind === 'rejected'
          ? `${result.rejection.field}: ${result.rejection.problem}, got ${result.rejection.value}`
          : 'it is withheld';
      return { status: 422, error: `This document is invalid: ${why}` };
    }
    if (kind === 'fronts') return frontPreview(store, result.document, now());
    const isProtected = (stored.content as { protected?: unknown } | null | undefined)?.protected === true;
    return { status: 200, document: previewOf(store, result.document), isProtected };
  };
}

/** A front with the slots of its draft. */
async function withDraft(client: Client, id: number, raw: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.get(`/newsroom/v1/fronts/${id}/draft`, {}, { tries: 2 });
  const { front } = (result.ok ? result.data : {}) as { front?: unknown };
  return front ? { ...raw, front } : raw;
}

/** The page of a front, with the slots that would count now. @param now epoch milliseconds */
function frontPreview(store: ContentStore, { slug, facts }: IngestedDocument, now: number): PreviewAnswer {
  const section = sectionOfFront(slug);
  const known = section == null ? null : sectionTable(store).inOrder.find(({ id }) => id === section);
  if (section !== null && !known) return { status: 404, error: 'The site has no such section.' };
  const slots = slotsAt(facts.front ?? { slots: [], next: null }, instantAt(now));
  return { status: 200, document: { type: 'fronts', key: slug, path: known ? `/section/${known.slug}` : '/', slots } };
}

/** The content of the newest autosave over the document's own fields, if it is newer than the document. */
async function withAutosave(
  client: Client,
  type: DocumentType,
  id: number,
  raw: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const result = await client.get(`/wp/v2/${type}/${id}/autosaves`, {}, { tries: 1 });
  if (!result.ok || !Array.isArray(result.data)) return raw;
  const stamp = (each: Record<string, unknown>): string => String(each.modified_gmt ?? each.date_gmt ?? '');
  const newest = (result.data as Record<string, unknown>[]).reduce<Record<string, unknown> | null>(
    (best, each) => (best === null || stamp(each) > stamp(best) ? each : best),
    null,
  );
  if (!newest || stamp(newest) <= String(raw.modified_gmt ?? '')) return raw;
  const { title, content, excerpt } = newest;
  const meta = (newest.meta ?? {}) as Record<string, unknown>;
  const corrections = datedNow(meta.newsroom_corrections);
  // Older plugins don't send it with an autosave.
  const sound = 'sound' in newest ? { sound: newest.sound } : {};
  return {
    ...raw,
    ...(title ? { title } : {}),
    ...(content ? { content } : {}),
    ...(excerpt ? { excerpt } : {}),
    ...(corrections ? { corrections } : {}),
    ...sound,
    ...(Array.isArray(meta.newsroom_authors) ? draftByline(raw, meta) : {}),
  };
}

/** The lead picture that the editor has chosen: an autosave doesn't have it, so WordPress adds its id to the link. */
async function withPicture(client: Client, raw: Record<string, unknown>, id: string): Promise<Record<string, unknown>> {
  const { id: published } = (raw.image ?? {}) as { id?: unknown };
  if (!/^[1-9]\d{0,15}$/u.test(id) || published === Number(id)) return raw;
  const result = await client.get(`/wp/v2/media/${id}`, {}, { tries: 1 });
  if (!result.ok) return raw;
  const media = result.data as WireMedia;
  if (media.media_type !== 'image') return raw;
  const { width, height } = media.media_details ?? {};
  const caption = media.caption?.rendered;
  const image = {
    url: media.source_url,
    alt: media.alt_text,
    width,
    height,
    caption,
    credit: media.meta?.newsroom_credit,
  };
  return { ...raw, image };
}

/** What the picture of a document needs of a file in WordPress's media library. */
interface WireMedia {
  readonly media_type?: unknown;
  readonly source_url?: unknown;
  readonly alt_text?: unknown;
  readonly media_details?: { readonly width?: unknown; readonly height?: unknown };
  readonly caption?: { readonly rendered?: unknown };
  readonly meta?: { readonly newsroom_credit?: unknown };
}

/**
 * The byline of an autosave, or the document's own if the autosave has none: lists of ids, whose names the content store has. A list that
 * is empty in both stays as the document has it, because another plugin may store it.
 */
function draftByline(raw: Record<string, unknown>, meta: Record<string, unknown>): Record<string, unknown> {
  const before = (raw.meta ?? {}) as Record<string, unknown>;
  const published = (raw.byline ?? {}) as Record<string, unknown>;
  const listOf = (from: Record<string, unknown>, key: string, singleKey?: string): unknown[] => {
    const list = Array.isArray(from[key]) ? (from[key] as unknown[]) : [];
    return list.length === 0 && singleKey && from[singleKey] ? [from[singleKey]] : list;
  };
  const drafted = (name: string, key: string, singleKey?: string): unknown =>
    listOf(meta, key, singleKey).length > 0 || listOf(before, key, singleKey).length > 0
      ? listOf(meta, key, singleKey)
      : published[name];
  const authors = drafted('authors', 'newsroom_authors', 'newsroom_author');
  return {
    byline: {
      authors,
      contributors: drafted('contributors', 'newsroom_contributors'),
      agency: { name: meta.newsroom_agency, url: meta.newsroom_agency_url },
    },
    // If the list is empty, the document's single author counts.
    acf: { ...(raw.acf as Record<string, unknown> | undefined), author: authors },
  };
}

/** A new note has no date until it is saved; a preview shows it as if it were saved now. */
const datedNow = (notes: unknown): unknown =>
  Array.isArray(notes)
    ? notes.map((note) => ({ date: new Date().toISOString(), ...(note as Record<string, unknown>) }))
    : notes;

function previewOf(store: ContentStore, document: IngestedDocument): PreviewDocument {
  const { id, slug, title, excerpt, image, date, modified, facts } = document;
  const bodyHtml = resolveLinks(document.bodyHtml, store);
  const sections = sectionTable(store).of(document.terms);
  const first = sections[0];
  const section = first ? { slug: first.slug, label: first.label, color: first.color } : null;
  const byline = previewByline(store, document);
  const author = byline.authors[0] ?? null;
  const base = { id, slug, title, excerpt, image, bodyHtml, date, modified, section };
  switch (document.type) {
    case 'video': {
      const video = { url: facts.videoUrl ?? '', providerId: facts.providerId ?? null, provider: 'youtube' as const };
      return { type: 'video', video: { ...base, author, video } };
    }
    case 'crosswords':
      return { type: 'crosswords', crossword: { id, slug, title, author, date, iframeSrc: facts.iframeSrc ?? '' } };
    case 'articles':
      return {
        type: 'articles',
        article: {
          ...base,
          byline,
          sections,
          openingHtml: resolveLinks(document.openingHtml, store),
          access: sectionTable(store).levelOf(facts.access, document.terms),
          minutes: facts.minutes ?? 1,
          words: facts.words ?? 0,
          commentsOpen: false,
          corrections: (facts.corrections ?? []).map(({ kind, date: at, html }) => ({
            kind,
            date: at,
            html: resolveLinks(html, store),
          })),
          sound: document.sound ?? null,
          podcast: storedPodcast(store, document.sound?.podcastId ?? null),
          // Entries are published one by one; a preview shows the story around them.
          live: null,
        },
      };
    default:
      return { type: 'pages', page: { id, slug, title, excerpt, bodyHtml, image, modified } };
  }
}

/** Names as embedded in the document, or from the content store. */
function previewByline(
  store: ContentStore,
  { authorId, author, others = [], facts }: IngestedDocument,
): Article['byline'] {
  const embedded = [author, ...others];
  const peopleOf = (ids: readonly number[]): Author[] =>
    ids.flatMap((id) => embedded.find((each) => each?.id === id) ?? storedAuthor(store, id) ?? []);
  const { authors, contributors, agency } = facts.byline ?? {
    authors: authorId === null ? [] : [authorId],
    contributors: [],
    agency: null,
  };
  return { authors: peopleOf(authors), contributors: peopleOf(contributors), agency };
}

function storedPodcast(store: ContentStore, id: number | null): Podcast | null {
  const row = id === null ? null : findById({ store, tags: new Set() }, 'podcasts', id);
  return row && podcastOf(row);
}

function storedAuthor(store: ContentStore, id: number): Author | null {
  const row = findById({ store, tags: new Set() }, 'authors', id);
  return row && authorOf(row);
}
