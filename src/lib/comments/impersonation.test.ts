import { expect, it } from 'vitest';
import { impersonates } from './impersonation.ts';

const reserved = ['The Sun', 'Grace Miller', 'José Núñez'];

it.each([
  'The Sun',
  'the sun',
  'THE  SUN',
  'Thе Sun',
  'Τhe Ѕun',
  'The S\u200bun',
  'Th\u00e9 S\u00fan',
  'T h e S u n',
  'Ｔｈｅ Ｓｕｎ',
  '𝐓𝐡𝐞 𝐒𝐮𝐧',
  'The $un',
  'The Sun Staff',
  'The Sun Editor',
  'Sun Newsroom',
  'The-Sun',
  'Gracе Мiller',
  'GRACE MlLLER',
  'Grace Mi11er',
  'Ｇrace Miller',
  'Jose Nunez',
  'José Núñez (official)',
])('%j is rejected as a name of the newspaper or its staff', (name) => {
  expect(impersonates(name, reserved)).toBe(true);
});

it.each([
  'Grace',
  'Ada Lovelace',
  'Grace Millard',
  'Sunny',
  'Sun',
  'Иван Петров',
  'Theo Sun',
  'Miller Grace',
  '李雷',
  'Newsome',
])('%j is accepted as a reader’s name', (name) => {
  expect(impersonates(name, reserved)).toBe(false);
});
