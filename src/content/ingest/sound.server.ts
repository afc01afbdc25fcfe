/** A story's sound from WordPress's response: an allowed address and plain text. */
import { createHash } from 'node:crypto';
import type { PodcastDetails, Sound } from '../../lib/content/model.ts';
import { truncateAtWord } from '../../lib/text.ts';
import type * as wire from '../wire/schemas.ts';
import { allowedMedia, type BodyContext } from './body-media.server.ts';
import type { DocumentFacts } from './document.ts';
import { cleanLine } from './sanitize.server.ts';

/** The plugin allows fewer chapters and characters; these limits are for content from elsewhere. */
const limits = { chapters: 500, title: 300, transcript: 500_000 };

const audioType = /^audio\/[a-z\d][\w.+-]{0,60}$/u;

/** A transcript as plain text; its empty lines separate the cues of WebVTT. */
const cleanTranscript = (text: string): string =>
  text
    .slice(0, limits.transcript)
    .split(/\r\n|[\n\r\u2028\u2029]/u)
    .map(cleanLine)
    .join('\n')
    .replace(/\n{3,}/gu, '\n\n')
    .trim();

/** @returns `null` for a file that isn't audio, or is on a host that the site doesn't load media from */
export function soundOf(
  raw: wire.WireSound | null | undefined,
  context: Pick<BodyContext, 'wordpress' | 'base' | 'mediaHosts'>,
): Sound | null {
  if (!raw || !audioType.test(raw.type)) return null;
  const url = raw.url === '' ? '' : allowedMedia(raw.url, context);
  if (url === null) return null;
  const chapters = raw.chapters
    .map(({ start, title }) => ({ start, title: truncateAtWord(cleanLine(title), limits.title) }))
    .filter(({ title }) => title !== '')
    .toSorted((a, b) => a.start - b.start)
    .slice(0, limits.chapters);
  return {
    title: truncateAtWord(cleanLine(raw.title), limits.title),
    url,
    type: raw.type,
    bytes: raw.bytes,
    seconds: raw.seconds,
    chapters,
    transcript: cleanTranscript(raw.transcript),
    podcastId: raw.series,
  };
}

/** The facts of a story with this sound. */
export const soundFacts = (sound: Sound | null): Pick<DocumentFacts, 'sound'> =>
  sound === null
    ? {}
    : {
        sound: {
          podcast: sound.podcastId,
          mark: createHash('sha256').update(JSON.stringify(sound)).digest('base64url').slice(0, 16),
        },
      };

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

/** What podcast directories ask for, from the field `series`. */
export function podcastDetails(series: NonNullable<wire.WirePodcast['series']> | undefined): PodcastDetails {
  const { guid = '', language = '', author = '', email = '', category = [], explicit = false, access } = series ?? {};
  return {
    guid: uuid.test(guid) ? guid : '',
    language: /^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/u.test(language) ? language : '',
    author: cleanLine(author),
    email: /^[^\s@<>"]+@[^\s@<>"]+$/u.test(email) ? email : '',
    category: category
      .map(cleanLine)
      .filter((name) => name !== '')
      .slice(0, 2),
    explicit,
    paid: access === 'subscriber',
  };
}
