import { expect, it } from 'vitest';
import { languageOf } from './model.ts';

it.each([
  ['الصحيفة تشرق للجميع', { lang: 'ar', dir: 'rtl' }],
  ['روزنامه‌ای که برای همه می‌تابد، گزارش', { lang: 'fa', dir: 'rtl' }],
  ['העיתון זורח לכולם', { lang: 'he', dir: 'rtl' }],
  ['太陽は皆のために輝く新聞です', { lang: 'ja', dir: 'ltr' }],
  ['太阳为所有人照耀', { lang: 'zh', dir: 'ltr' }],
  ['Солнце светит всем', { lang: 'ru', dir: 'ltr' }],
])('%s', (text, language) => {
  expect(languageOf(text)).toEqual(language);
});

it.each(['It shines for all', 'The word سلام means peace, and this story is in English', '1833', ''])(
  'says nothing about “%s”',
  (text) => {
    expect(languageOf(text)).toBeNull();
  },
);
