/** Rules of an article's display: free or not, headline size, standfirst, language and share links. */
import { isRestrictedLevel } from '../access/model.ts';
import type { Article, Card } from '../content/model.ts';
import { plainText } from '../text.ts';

/** True when readers need no account before reading; `default` is public, and only metered. */
export const isFree = (access: Card['access']): boolean => !isRestrictedLevel(access);

/** Class of the element with the paid text, or of the element that replaces it; structured data refers to the class. */
export const restrictedClass = 'restricted';

/** Size of a headline: the longer, the smaller, so that it never fills the window. */
export type HeadlineSize = 'large' | 'medium' | 'small';

/** Counted in characters as a reader counts them. */
export function headlineSize(title: string): HeadlineSize {
  const length = [...title].length;
  if (length <= 72) return 'large';
  return length <= 120 ? 'medium' : 'small';
}

/** An excerpt repeats the body, or was cut from it by WordPress, if the body has this many of its first letters. */
export const comparedLetters = 40;
/** Characters of a body's markup that are searched for the excerpt: a picture, its caption and a heading may come first. */
const searchedCharacters = 6000;

/** The letters and digits of a text: spaces and punctuation differ between a text and its copy. */
export const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * @param excerpt plain text
 * @param bodyHtml sanitized markup, at least the story's opening
 * @returns the excerpt, or `''` if it only repeats the start of the body
 */
export function standfirstOf(excerpt: string, bodyHtml: string): string {
  const excerptLetters = letters(excerpt);
  if (excerptLetters === '') return excerpt;
  const body = letters(bodyHtml.slice(0, searchedCharacters).replace(/<[^>]*>|&[a-z0-9#]+;/giu, ' '));
  if (excerptLetters.length < comparedLetters) return body === excerptLetters ? '' : excerpt;
  return body.includes(excerptLetters.slice(0, comparedLetters)) ? '' : excerpt;
}

/**
 * Language of a text that isn't in the newspaper's language: it needs `lang` for screen readers and `dir` for the direction of
 * its lines.
 */
export interface TextLanguage {
  /** BCP 47. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
}

/**
 * Scripts that imply a language; the first script with enough of the letters wins. Kana comes before Han, which Japanese also uses.
 */
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

/** Letters that Persian and Urdu have and Arabic doesn't. */
const persian = /[پچژگ]/u;
const urdu = /[ٹڈڑںے]/u;

/** Any character that may belong to one of these scripts. Most texts have none, and comparing ranges is faster than looking up scripts. */
const beyondLatin = /[^\0-\u036f\u1e00-\u1eff\u2000-\u206f]/;
/** A letter of another script than the newspaper's. */
const otherLetter = /(?!\p{Script=Latin})\p{L}/u;

/** @returns `null` for a text in the newspaper's script, or in one that implies no language */
export function languageOf(text: string): TextLanguage | null {
  if (!beyondLatin.test(text) || !otherLetter.test(text)) return null;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  for (const { lang, dir, letters: own } of scripts) {
    const share = (text.match(own)?.length ?? 0) / letters;
    // Japanese is written with more Han than kana.
    if (share <= (lang === 'ja' ? 0.2 : 0.5)) continue;
    if (lang !== 'ar') return { lang, dir };
    return { lang: urdu.test(text) ? 'ur' : persian.test(text) ? 'fa' : 'ar', dir };
  }
  return null;
}

/** Language of a story in a list, determined from its headline and excerpt. */
export const languageOfCard = ({ title, excerpt }: Pick<Card, 'title' | 'excerpt'>): TextLanguage | null =>
  languageOf(`${title} ${excerpt}`);

/** Language of a story, determined from the text that everyone may read. */
export const languageOfStory = ({
  title,
  excerpt,
  openingHtml,
}: Pick<Article, 'title' | 'excerpt' | 'openingHtml'>): TextLanguage | null =>
  languageOf(`${title} ${excerpt} ${plainText(openingHtml)}`);

export interface ShareLink {
  readonly name: string;
  readonly href: string;
}

/**
 * Plain links to share a story; nothing is loaded from other sites before a click.
 *
 * @param url full address of the story
 * @param paper name of the newspaper
 */
export function shareLinks(url: string, title: string, paper: string): readonly ShareLink[] {
  const query = (parameters: Readonly<Record<string, string>>): string =>
    Object.entries(parameters)
      // Not URLSearchParams: mail programs don't read a plus sign as a space.
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  return [
    { name: 'Email', href: `mailto:?${query({ subject: `${title} (${paper})`, body: `${title}\n\n${url}` })}` },
    { name: 'X', href: `https://x.com/intent/post?${query({ text: title, url })}` },
    { name: 'Facebook', href: `https://www.facebook.com/sharer/sharer.php?${query({ u: url })}` },
  ];
}
