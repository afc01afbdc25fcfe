/** Chapters and transcripts as files of their own, for podcast apps (podcast namespace, "chapters" and "transcript"). */
import { isFree } from '../article/model.ts';
import type { Episode, Podcast } from '../content/model.ts';
import { textAnswer } from '../feeds/write.ts';
import { soundTitle, transcriptFile, transcriptType } from './model.ts';

export const chaptersType = 'application/json+chapters';

/** JSON chapters, version 1.2. */
export const chaptersJson = ({ card, sound }: Episode, podcast: Pick<Podcast, 'title'> | null): string =>
  `${JSON.stringify({
    version: '1.2.0',
    title: soundTitle(sound, card),
    podcastName: podcast?.title,
    chapters: sound.chapters.map(({ start, title }) => ({ startTime: start, title })),
  })}\n`;

/** A file of an episode: its type and text. */
interface EpisodeFile {
  readonly type: string;
  readonly text: string;
}

/** Whether a file of an episode may have this name. */
export const isEpisodeFile = (name: string): boolean =>
  ['chapters.json', 'transcript.txt', 'transcript.vtt'].includes(name);

/** A file of an episode by its name, see {@link isEpisodeFile}; `null` when the episode has none of that name. */
export function episodeFile(
  episode: Episode,
  podcast: Pick<Podcast, 'title'> | null,
  name: string,
): EpisodeFile | null {
  const { sound } = episode;
  if (name === 'chapters.json')
    return sound.chapters.length > 0 ? { type: chaptersType, text: chaptersJson(episode, podcast) } : null;
  if (sound.transcript === '' || name !== transcriptFile(sound)) return null;
  return { type: transcriptType(sound), text: `${sound.transcript}\n` };
}

/** Web-based podcast apps read these files from another origin. */
export const episodeFileHeaders = (type: string): Record<string, string> => ({
  'content-type': `${type}; charset=utf-8`,
  'access-control-allow-origin': '*',
});

/** The response for a file of a story; for a restricted story, only readers with access get it. */
export function answerEpisodeFile(
  { content, variant, markAccess }: Pick<App.Locals, 'content' | 'variant' | 'markAccess'>,
  slug: string,
  name: string,
): Response {
  const article = content.article(slug);
  const episode = article?.sound ? content.episode(article.id) : null;
  if (!article || !episode) return textAnswer(null, 'text/plain');
  markAccess(article.access);
  const may = isFree(article.access) || variant === 'full';
  const file = may ? episodeFile(episode, article.podcast, name) : null;
  return file ? new Response(file.text, { headers: episodeFileHeaders(file.type) }) : textAnswer(null, 'text/plain');
}
