// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listen } from './listen.ts';

class Utterance {
  readonly text: string;
  lang = '';
  voice: unknown = null;
  constructor(text: string) {
    this.text = text;
  }
}
const spoken: Utterance[] = [];

beforeEach(() => {
  spoken.length = 0;
  document.documentElement.lang = 'en';
  vi.stubGlobal('SpeechSynthesisUtterance', Utterance);
  vi.stubGlobal('speechSynthesis', {
    getVoices: () => ['en-US', 'ar-EG'].map((lang) => ({ lang, localService: true, default: lang === 'en-US' })),
    speak: (utterance: Utterance) => void spoken.push(utterance),
    cancel() {},
  });
});
afterEach(() => vi.unstubAllGlobals());

it.each([
  ['in the newspaper’s language', '', 'en', 'en-US'],
  ['in another language', 'data-language="ar"', 'ar', 'ar-EG'],
])('a story %s is read aloud by a voice of its language', (_, attribute, lang, voice) => {
  document.body.innerHTML = `<article class="story" ${attribute}><h1>Title</h1></article>`;
  listen();
  expect(spoken).toMatchObject([{ text: 'Title', lang, voice: { lang: voice } }]);
  // A second call closes the player.
  listen();
});
