/** Reads series, and the audio files of stories: the sound, and the players of a text. */
import type { Podcast, Sound } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { audioAddresses } from '../../lib/sound/model.ts';
import type { ContentStore } from './content-store.server.ts';
import { findById, findBySlug, type Read, readCardOf, readSlice, withBodies, withLinks } from './read.server.ts';
import { factsOf, podcastOf, type Row } from './rows.server.ts';

type SoundReads = Pick<ContentReader, 'podcasts' | 'podcast' | 'episodes' | 'episode' | 'audio'>;

/** The reads of sounds and series. */
export function soundReads(read: Read): SoundReads {
  const { store, tags } = read;
  const episode: SoundReads['episode'] = (articleId) => {
    const sound = readSound(store, articleId);
    const story = readCardOf(read, articleId);
    return sound && story ? { card: story, sound } : null;
  };
  return {
    podcasts() {
      tags.add(tag.podcasts);
      const sql = `${withBodies} WHERE d.type = 'podcasts' ORDER BY d.title COLLATE NOCASE, d.id`;
      return store
        .prepare(sql)
        .all()
        .map((row) => notePodcast(read, row));
    },
    podcast(slug) {
      const row = findBySlug(read, 'podcasts', slug);
      return row && notePodcast(read, row);
    },
    episodes(podcastId, filter) {
      tags.add(tag.episodes(podcastId));
      return readSlice(store, [`articles:podcast:${podcastId}`], filter, 20, episode);
    },
    episode,
    /** @param id of a story, or of an entry of a live story, whose readers are the story's */
    audio(id, number) {
      const row = store.prepare("SELECT facts FROM documents WHERE id = ? AND type = 'live-entries'").get(id);
      const storyId = row ? (factsOf(row).story ?? 0) : id;
      if (row) tags.add(tag.entry(id));
      const story = readCardOf(read, storyId);
      tags.add(tag.article(storyId));
      const file = story && readAudio(store, id, number);
      return file && { slug: story.slug, access: story.access, url: file.url, type: file.type };
    },
  };
}

/** The sound of a story; `null` when it has none. */
export function readSound(store: ContentStore, articleId: number): Sound | null {
  const row = store.prepare('SELECT sound FROM sounds WHERE id = ?').get(articleId);
  return row ? (JSON.parse(String(row.sound)) as Sound) : null;
}

/** @param number 0 for the story's sound; from 1 on, the position of a player in the text */
function readAudio(store: ContentStore, articleId: number, number: number): Pick<Sound, 'url' | 'type'> | null {
  if (number === 0) {
    const sound = readSound(store, articleId);
    return sound && sound.url !== '' ? sound : null;
  }
  const row = store.prepare('SELECT body FROM bodies WHERE id = ?').get(articleId);
  const url = row ? audioAddresses(String(row.body))[number - 1] : undefined;
  return url === undefined ? null : { url, type: '' };
}

function notePodcast(read: Read, row: Row): Podcast {
  const podcast = podcastOf(row);
  read.tags.add(tag.podcast(podcast.id));
  return { ...podcast, bodyHtml: withLinks(read, podcast.bodyHtml) };
}

/** An id without a published series still tags the page, which changes when the series appears. */
export function podcastById(read: Read, id: number | null): Podcast | null {
  if (id === null) return null;
  const row = findById(read, 'podcasts', id);
  if (row) return notePodcast(read, row);
  read.tags.add(tag.podcast(id));
  return null;
}
