/** Reads series, and the audio files of stories: the sound, and the players of a text. */
import type { Card, Episode, Podcast, Sound, StoryAudio } from '../../lib/content/model.ts';
import type { ContentReader, Slice } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { audioAddresses } from '../../lib/sound/model.ts';
import type { DocumentFacts } from '../ingest/document.ts';
import type { ContentStore } from './content-store.server.ts';
import { listIds, listTotal } from './lists.server.ts';
import { documentColumns, documentSource, podcastOf, type Row } from './rows.server.ts';

/** What the reads below need from a request's reader. */
export interface SoundContext {
  readonly store: ContentStore;
  readonly tags: Set<string>;
  /** The row of a series, with its body. */
  find(slug: string): Row | null;
  card(id: number): Card | null;
  /** Resolves the links of a text. */
  links(html: string): string;
}

const withBodies = `SELECT ${documentColumns}, b.body FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id`;

/** The reads of sounds and series. */
export const soundReads = (
  context: SoundContext,
): Pick<ContentReader, 'podcasts' | 'podcast' | 'episodes' | 'episode' | 'audio'> => ({
  podcasts: () => podcasts(context),
  podcast: (slug) => podcast(context, slug),
  episodes: (podcastId, filter) => episodes(context, podcastId, filter),
  episode: (articleId) => episode(context, articleId),
  audio: (articleId, number) => audio(context, articleId, number),
});

/** The sound of a story; `null` when it has none. */
export function readSound(store: ContentStore, articleId: number): Sound | null {
  const row = store.prepare('SELECT sound FROM sounds WHERE id = ?').get(articleId);
  return row ? (JSON.parse(String(row.sound)) as Sound) : null;
}

/** @param number 0 for the story's sound; from 1 on, the position of a player in the text */
function readAudio(
  store: ContentStore,
  articleId: number,
  number: number,
): { readonly url: string; readonly type: string } | null {
  if (number === 0) {
    const sound = readSound(store, articleId);
    return sound && sound.url !== '' ? { url: sound.url, type: sound.type } : null;
  }
  const row = store.prepare('SELECT body FROM bodies WHERE id = ?').get(articleId);
  const url = row ? audioAddresses(String(row.body))[number - 1] : undefined;
  return url === undefined ? null : { url, type: '' };
}

function notePodcast(context: SoundContext, row: Row): Podcast {
  const podcast = podcastOf(row);
  context.tags.add(tag.podcast(podcast.id));
  return { ...podcast, bodyHtml: context.links(podcast.bodyHtml) };
}

function podcasts(context: SoundContext): readonly Podcast[] {
  context.tags.add(tag.podcasts);
  const rows = context.store
    .prepare(`${withBodies} WHERE d.type = 'podcasts' ORDER BY d.title COLLATE NOCASE, d.id`)
    .all();
  return rows.map((row) => notePodcast(context, row as Row));
}

function podcast(context: SoundContext, slug: string): Podcast | null {
  const row = context.find(slug);
  return row && notePodcast(context, row);
}

/** An id without a published series still tags the page, which changes when the series appears. */
export function podcastById(context: SoundContext, id: number | null): Podcast | null {
  if (id === null) return null;
  const row = context.store.prepare(`${withBodies} WHERE d.id = ? AND d.type = ?`).get(id, 'podcasts') as
    | Row
    | undefined;
  if (row) return notePodcast(context, row);
  context.tags.add(tag.podcast(id));
  return null;
}

function episodes(
  context: SoundContext,
  podcastId: number,
  filter: Parameters<ContentReader['episodes']>[1],
): Slice<Episode> {
  context.tags.add(tag.episodes(podcastId));
  const lists = [`articles:podcast:${podcastId}`];
  const items = listIds(context.store, lists, filter, 20).flatMap((id) => episode(context, id) ?? []);
  return { items, total: listTotal(context.store, lists, filter) };
}

function episode(context: SoundContext, articleId: number): Episode | null {
  const sound = readSound(context.store, articleId);
  const story = context.card(articleId);
  return sound && story ? { card: story, sound } : null;
}

/** @param id of a story, or of an entry of a live story, whose readers are the story's */
function audio(context: SoundContext, id: number, number: number): StoryAudio | null {
  const row = context.store.prepare("SELECT facts FROM documents WHERE id = ? AND type = 'live-entries'").get(id);
  const storyId = row ? ((JSON.parse(String(row.facts)) as DocumentFacts).story ?? 0) : id;
  if (row) context.tags.add(tag.entry(id));
  const story = context.card(storyId);
  context.tags.add(tag.article(storyId));
  const file = story && readAudio(context.store, id, number);
  return file && { slug: story.slug, access: story.access, url: file.url, type: file.type };
}
