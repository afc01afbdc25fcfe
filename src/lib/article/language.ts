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
