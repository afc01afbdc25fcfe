/** The sound of stories and their series: addresses, texts, and what a player needs. Browsers load this file with a player. */
import type { AccessLevel, Podcast, Sound } from '../content/model.ts';

/** The list of all series. */
export const podcastsPath = '/podcasts';
export const podcastPath = (slug: string): string => `/podcast/${slug}`;
/** The feed of a series that everyone may read. */
export const podcastFeedPath = (slug: string): string => `${podcastPath(slug)}/rss.xml`;

/** File name extensions by media type: some podcast apps check only the extension. */
const extensions: Readonly<Record<string, string>> = {
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/x-m4a': '.m4a',
  'audio/aac': '.aac',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
  'audio/x-wav': '.wav',
  'audio/flac': '.flac',
};

/**
 * Where the site itself serves an audio file of a restricted story, to readers who may read it (server/http/sound.ts).
 *
 * @param number 0 for the story's sound; from 1 on, the position of a player in its text
 * @param type media type, for the file's extension
 */
export const soundPath = (articleId: number, number: number, type = ''): string =>
  `${soundFolder(articleId)}/${number}${extensions[type] ?? ''}`;

/** Folder of all recordings of a story. */
export const soundFolder = (articleId: number): string => `/sound/${articleId}`;

export const soundWords = {
  listen: 'Listen',
  all: 'All series',
  series: 'Series',
  episodes: 'Episodes',
  none: 'No episode yet.',
  noSeries: 'There’s no series to listen to yet.',
  chapters: 'Chapters',
  transcript: 'Transcript',
  paid: { registered: 'Sign in to listen.', subscriber: 'Subscribers can listen to this story.' },
  lock: { registered: 'Free account', subscriber: 'Subscribers' },
  print: 'You can listen to this story at',
} as const;

const audioElement = /<audio\b[^>]*>[\s\S]*?<\/audio>/gu;
/** A serializer writes each attribute as `name="value"`. */
const srcAttribute = /(\ssrc=")([^"]*)(")/gu;
const isFile = (src: string): boolean => /^https?:/u.test(src);

/** The addresses of the audio players of a sanitized text, in order. Inline captions aren't files. */
export const audioAddresses = (html: string): string[] =>
  [...html.matchAll(audioElement)].flatMap(([markup]) =>
    [...markup.matchAll(srcAttribute)].map(([, , src = '']) => src.replaceAll('&amp;', '&')).filter(isFile),
  );

/** The text of a restricted story, with audio addresses on this site, which checks who may listen. */
export function withPaidAudio(html: string, articleId: number): string {
  let number = 0;
  return html.replace(audioElement, (markup) =>
    markup.replace(srcAttribute, (whole: string, before: string, src: string, after: string) =>
      isFile(src) ? `${before}${soundPath(articleId, ++number)}${after}` : whole,
    ),
  );
}

export const hasAudio = (html: string): boolean => html.includes('<audio');

const speeds = [0.75, 1, 1.25, 1.5, 1.75, 2] as const;

/** Buttons of a player for browsers with scripts; they are in the page so that nothing moves when the script has loaded. */
export const playerTools = `<div class="sound-tools"><button type="button" data-skip="-15"><span aria-hidden="true">−15 sec</span><span class="visually-hidden">15 seconds back</span></button><button type="button" data-skip="30"><span aria-hidden="true">+30 sec</span><span class="visually-hidden">30 seconds forward</span></button><label>Speed <select data-speed>${speeds
  .map((speed) => `<option value="${speed}"${speed === 1 ? ' selected' : ''}>${speed}×</option>`)
  .join('')}</select></label></div>`;

/** The same for the players of a text. */
export const withPlayerTools = (html: string): string => html.replaceAll('</audio>', `</audio>${playerTools}`);

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** `4:05` or `1:04:05`. */
export function clockTime(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)];
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`;
}

/** `12 min`, `1 hr`, `1 hr 4 min`; `''` where the length isn't known. */
export function lengthWords(seconds: number): string {
  if (seconds <= 0) return '';
  if (seconds < 60) return `${seconds} sec`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} hr${minutes % 60 > 0 ? ` ${minutes % 60} min` : ''}`;
}

/** Length in ISO 8601, such as `PT12M5S`, for structured data. */
export const isoLength = (seconds: number): string | undefined =>
  seconds > 0 ? `PT${Math.floor(seconds / 60)}M${seconds % 60}S` : undefined;

/** The title of a story's sound. */
export const soundTitle = (sound: Pick<Sound, 'title'>, story: { readonly title: string }): string =>
  sound.title || story.title || 'Untitled';

/** WebVTT is recognized by its first line. */
export const transcriptType = ({ transcript }: Pick<Sound, 'transcript'>): 'text/vtt' | 'text/plain' =>
  /^WEBVTT(?:\s|$)/u.test(transcript) ? 'text/vtt' : 'text/plain';

export const transcriptFile = (sound: Pick<Sound, 'transcript'>): string =>
  transcriptType(sound) === 'text/vtt' ? 'transcript.vtt' : 'transcript.txt';

/** The text on a story's or series' page about who may listen; `''`: everyone. */
export const lockWords = (access: AccessLevel): string =>
  access === 'registered' || access === 'subscriber' ? soundWords.lock[access] : '';

/** The series' language in feeds. */
export const languageOf = ({ details }: Podcast, newspaper: string): string => details.language || newspaper;
