import { describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { HeadlineTest, Picture } from '../content/model.ts';
import { headlineMarkup, picturesOf, placeMarkup, untested, withForms } from './markup.ts';

const id = '0123456789abcdef';
const test = (titles: readonly string[], part: Partial<HeadlineTest> = {}): HeadlineTest => ({
  id,
  state: 'running',
  started: '2026-11-25T12:00:00Z',
  others: titles.map((title) => ({ title, image: null })),
  ...part,
});
const forms = (html: string, count: number) => Array.from({ length: count }, (_, form) => withForms(html, () => form));

describe('the place of a tested headline', () => {
  it('shows the story’s own headline unless a form is chosen', () => {
    const html = headlineMarkup({ title: 'Own', test: test(['Second', 'Third']) });
    expect(html).toBe(`<!--[${id}-->Own<!--${id} ["Second","Third"]-->`);
    expect(forms(`<h2>${html}</h2>`, 3)).toEqual(['<h2>Own</h2>', '<h2>Second</h2>', '<h2>Third</h2>']);
  });

  it('gets its form separately for each test', () => {
    const other = 'fedcba9876543210';
    const html = `${placeMarkup(id, ['a', 'b'])}|${placeMarkup(other, ['c', 'd', 'e'])}|${placeMarkup(id, ['<i>a</i>', '<i>b</i>'])}`;
    const asked: [string, number][] = [];
    const chosen = withForms(html, (test, count) => {
      asked.push([test, count]);
      return test === id ? 1 : 2;
    });
    expect(chosen).toBe('b|e|<i>b</i>');
    expect(asked).toEqual([
      [id, 2],
      [other, 3],
      [id, 2],
    ]);
  });

  it('has no test markup when all forms are the same or there is no test', () => {
    expect(placeMarkup(id, ['x', 'x', 'x'])).toBe('x');
    expect(headlineMarkup({ title: 'A & "B"' })).toBe('A &amp; &#34;B&#34;');
    expect(withForms('<p>Nothing <!-- here --></p>', () => 1)).toBeNull();
  });

  it('keeps the story’s own headline for an unknown form, and is left unchanged when its markup is broken', () => {
    expect(withForms(placeMarkup(id, ['a', 'b']), () => 9)).toBe('a');
    for (const list of ['[1]', '["a"', '[{}]']) {
      const broken = `<!--[${id}-->a<!--${id} ${list}-->`;
      expect(withForms(broken, () => 1)).toBeNull();
    }
  });

  it('escapes headlines that look like markup, in every form', () => {
    const hostile = [
      ...xssPayloads.filter((payload) => payload.isWellFormed()),
      '-->',
      '--!>',
      '<!--',
      `<!--${id} ["x"]-->`,
      `<!--[${id}-->`,
      '\\u003e',
      '"]-->',
      ']]>',
      '$& $1 $`',
    ];
    for (const title of hostile) {
      const html = `<b>${headlineMarkup({ title: `1${title}`, test: test([`2${title}`, `3${title}`]) })}</b>`;
      for (const [at, shown] of forms(html, 3).entries()) {
        const text = shown ?? '';
        expect(text.slice(0, 4)).toBe(`<b>${at + 1}`);
        expect(text.slice(3, -4)).not.toMatch(/[<>]/);
        const read = text
          .slice(3, -4)
          .replace(
            /&(amp|lt|gt|#34|#39);/g,
            (_, name: string) => ({ amp: '&', lt: '<', gt: '>', '#34': '"', '#39': "'" })[name] ?? '',
          );
        expect(read).toBe(`${at + 1}${title}`);
      }
      // Where nothing chooses a form, the other forms stay inside the comment.
      expect(html.replace(/<!--[\s\S]*?-->/g, '')).not.toContain(`2${title}`);
    }
  });
});

describe('a headline test with a winner', () => {
  it('shows the winning headline to all readers', () => {
    const card = { title: 'Own', image: null, test: test(['Winner'], { state: 'won' }) };
    expect(headlineMarkup(card)).toBe('Winner');
    expect(picturesOf(card)).toEqual({ own: null, others: [] });
  });
});

describe('the pictures in a headline test', () => {
  const picture = (url: string): Picture => ({ url, alt: '', width: 3, height: 2, caption: '', credit: '' });
  const own = picture('https://cms.example/own.jpg');
  const second = picture('https://cms.example/second.jpg');
  const others = [
    { title: 'B', image: second },
    { title: 'C', image: null },
  ];

  it('are those of the forms, or the story’s own for a form without one', () => {
    expect(picturesOf({ image: own, test: test([], { others }) })).toEqual({ own, others: [second, own] });
  });

  it('are only the story’s own when no form has one, and none on a card without a picture', () => {
    expect(picturesOf({ image: own, test: test(['B']) })).toEqual({ own, others: [] });
    expect(picturesOf({ image: null, test: test([], { others }) })).toEqual({ own: null, others: [] });
  });
});

it('untested() removes the test from a card', () => {
  const card = { title: 'A', test: test(['B']) } as unknown as Parameters<typeof untested>[0];
  expect(untested(card)).toEqual({ title: 'A' });
});
