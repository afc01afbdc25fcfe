/** An article as pages, feeds and data about it describe it: its wall, headline, standfirst, language and share links. */
import { isWalled } from '../access/article.ts';
import type { Card } from '../content/model.ts';

/** True when readers need no account before reading; `default` is public, and only metered. */
export const isFree = (access: Card['access']): boolean => !isWalled(access);

/** Class of the element that holds what is behind a wall, or stands in its place; structured data names it. */
export const walledClass = 'walled';

/** How large a headline is set: the longer, the smaller, so that it stays a headline and never fills the window. */
export type HeadlineSize = 'large' | 'medium' | 'small';

/** Counted in characters as a reader counts them. */
export function headlineSize(title: string): HeadlineSize {
  const length = [...title].length;
  if (length <= 72) return 'large';
  return length <= 120 ? 'medium' : 'small';
}

/** Letters by which two openings are taken for the same. */
const telling = 40;
/** How far into a body its opening is looked for, in characters of markup: behind a picture, its caption and a heading. */
const opening = 6000;

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * @param excerpt plain text
 * @param bodyHtml sanitized markup, at least the story's opening
 * @returns the excerpt, or `''` when it only repeats how the body begins
 */
export function standfirstOf(excerpt: string, bodyHtml: string): string {
  const said = letters(excerpt);
  if (said === '') return excerpt;
  const body = letters(bodyHtml.slice(0, opening).replace(/<[^>]*>|&[a-z0-9#]+;/giu, ' '));
  if (said.length < telling) return body === said ? '' : excerpt;
  return body.includes(said.slice(0, telling)) ? '' : excerpt;
}

/**
 * The language of a text that is not in the paper's: a story in Arabic needs `lang` and `dir` of its own, for screen readers to change
 * their voice and for lines to begin at the right side. Only scripts that say by themselves which way they run and what is read.
 */

export interface TextLanguage {
  /** BCP 47. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
}

/** The first that most of a text's letters are of; kana comes before Han, which Japanese has, too. */
const scripts: readonly (TextLanguage & { readonly letters: RegExp })[] = [
  { lang: 'ar', dir: 'rtl', letters: /\p{Script=Arabic}/gu },
  { lang: 'he', dir: 'rtl', letters: /\p{Script=Hebrew}/gu },
  { lang: 'ja', dir: 'ltr', letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { lang: 'zh', dir: 'ltr', letters: /\p{Script=Han}/gu },
  { lang: 'ko', dir: 'ltr', letters: /\p{Script=Hangul}/gu },
  { lang: 'th', dir: 'ltr', letters: /\p{Script=Thai}/gu },
  { lang: 'el', dir: 'ltr', letters: /\p{Script=Greek}/gu },
  { lang: 'hi', dir: 'ltr', letters: /\p{Script=Devanagari}/gu },
  { lang: 'ru', dir: 'ltr', letters: /\p{Script=Cyrillic}/gu },
];

/** Persian and Urdu have letters that Arabic has not. */
const persian = /[پچژگ]/u;
const urdu = /[ٹڈڑںے]/u;

/** @returns `null` for a text of the paper's own script, or of none that says its language */
export function languageOf(text: string): TextLanguage | null {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  for (const { lang, dir, letters: own } of scripts) {
    const share = (text.match(own)?.length ?? 0) / letters;
    // Japanese is written with more Han than kana.
    if (share <= (lang === 'ja' ? 0.2 : 0.5)) continue;
    if (lang !== 'ar') return { lang, dir };
    return { lang: urdu.test(text) ? 'ur' : persian.test(text) ? 'fa' : 'ar', dir };
  }
  return null;
}

/** Plain links by which a story is passed on; nothing is loaded from anywhere before one is followed. */

export interface ShareLink {
  readonly name: string;
  readonly href: string;
}

/** @param url whole address of the story; @param paper name of the newspaper */
export function shareLinks(url: string, title: string, paper: string): readonly ShareLink[] {
  const query = (parameters: Readonly<Record<string, string>>): string =>
    Object.entries(parameters)
      // Mail programs take a plus sign for a plus sign.
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  return [
    { name: 'Email', href: `mailto:?${query({ subject: `${title} (${paper})`, body: `${title}\n\n${url}` })}` },
    { name: 'X', href: `https://x.com/intent/post?${query({ text: title, url })}` },
    { name: 'Facebook', href: `https://www.facebook.com/sharer/sharer.php?${query({ u: url })}` },
  ];
}
