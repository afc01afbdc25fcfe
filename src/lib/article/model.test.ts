import { expect, it, test } from 'vitest';
import { headlineSize, languageOf, languageOfCard, languageOfStory, standfirstOf } from './model.ts';

test.each([
  ['19 characters', 'The Night Switchman', 'large'],
  ['73 characters', 'x'.repeat(73), 'medium'],
  ['121 characters', 'x'.repeat(121), 'small'],
  ['36 emoji', '🗞️'.repeat(36), 'large'],
  ['no characters', '', 'large'],
])('a headline’s size follows from its length: %s', (_, title, size) => expect(headlineSize(title)).toBe(size));

it.each([
  ['الصحيفة تشرق للجميع', { lang: 'ar', dir: 'rtl' }],
  ['روزنامه‌ای که برای همه می‌تابد، گزارش', { lang: 'fa', dir: 'rtl' }],
  ['העיתון זורח לכולם', { lang: 'he', dir: 'rtl' }],
  ['太陽は皆のために輝く新聞です', { lang: 'ja', dir: 'ltr' }],
  ['太阳为所有人照耀', { lang: 'zh', dir: 'ltr' }],
  ['Солнце светит всем', { lang: 'ru', dir: 'ltr' }],
])('language and direction are detected in “%s”', (text, language) => {
  expect(languageOf(text)).toEqual(language);
});

it.each(['It shines for all', 'The word سلام means peace, and this story is in English', '1833', ''])(
  'no language is detected in “%s”',
  (text) => {
    expect(languageOf(text)).toBeNull();
  },
);

it('a card’s language comes from its headline and excerpt, a story’s also from its opening', () => {
  const arabic = { title: 'خبّاز ديربورن', excerpt: 'Dearborn' };
  expect(languageOfCard(arabic)).toEqual({ lang: 'ar', dir: 'rtl' });
  expect(languageOfStory({ ...arabic, openingHtml: `<p>${'The baker of Dearborn. '.repeat(9)}</p>` })).toBeNull();
});

const body =
  '<p>HOBOKEN — The airship came in over the river at 6:40 &amp; nobody was ready&nbsp;for it.</p>' +
  '<div class="embed">Play the video</div><p>It stayed for breakfast, and its crew asked about the coffee.</p>';

test.each([
  ['an excerpt that an editor wrote', 'A zeppelin landed at the ferry terminal, and stayed.'],
  ['a short excerpt', 'It stayed.'],
])('standfirst: %s is used unchanged', (_name, excerpt) => {
  expect(standfirstOf(excerpt, body)).toBe(excerpt);
});

test.each([
  ['cut off', 'HOBOKEN — The airship came in over the river at 6:40 & nobody was […]'],
  [
    'complete, without the embed between the paragraphs',
    'HOBOKEN — The airship came in over the river at 6:40 & nobody was ready for it. It stayed for breakfast',
  ],
  [
    'in a story that begins with a picture’s caption',
    'HOBOKEN — The airship came in over the river at 6:40 & nobody…',
    '<figure><figcaption>The ship.</figcaption></figure>',
  ],
])('an excerpt that WordPress made from the opening is not repeated above it: %s', (_name, excerpt, before = '') => {
  expect(standfirstOf(excerpt, before + body)).toBe('');
});

test('an excerpt that equals the whole one-line story is not shown', () => {
  expect(standfirstOf('Corrected.', '<p>Corrected.</p>')).toBe('');
});

test('an empty excerpt gives no standfirst, and an ellipsis without a body stays', () => {
  expect(standfirstOf('', body)).toBe('');
  expect(standfirstOf('…', '')).toBe('…');
});
