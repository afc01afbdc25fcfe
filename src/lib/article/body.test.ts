import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blocks, partsForAds, takesDropCap } from './body.ts';

const p = (length: number) => `<p>${'x'.repeat(length)}</p>`;

describe('blocks', () => {
  test('nested, void, commented and bare pieces', () => {
    const html =
      '<p>a<br>b</p>\n<figure><img src="a>b" alt="</p>"><figcaption>c</figcaption></figure><hr>tail<!-- <p> -->';
    expect(blocks(html).map(({ name, characters }) => [name, characters])).toEqual([
      ['p', 2],
      ['', 1],
      ['figure', 1],
      ['hr', 0],
      ['', 4],
    ]);
  });
  test('an element inside one of its own kind', () => {
    expect(blocks('<div><div>a</div></div><p>b</p>').map((block) => block.name)).toEqual(['div', 'p']);
  });
  test('nothing gives nothing', () => expect(blocks('')).toEqual([]));
  test('joined they give the body back, whatever it is', () => {
    const piece = fc.oneof(
      fc.constantFrom('<p>', '</p>', '<div>', '</div>', '<br>', '<!--', '-->', '<', '>', '"'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const html = pieces.join('');
        expect(
          blocks(html)
            .map((block) => block.html)
            .join(''),
        ).toBe(html);
      }),
    );
  });
});

describe('partsForAds', () => {
  test('a short body stays whole', () => {
    expect(partsForAds(p(300) + p(300), 3)).toHaveLength(1);
    expect(partsForAds('', 3)).toEqual(['']);
  });
  test('a long body is cut at most as often as asked, and nothing is lost', () => {
    const html = Array.from({ length: 60 }, () => p(600)).join('');
    const parts = partsForAds(html, 3);
    expect(parts).toHaveLength(4);
    expect(parts.join('')).toBe(html);
  });
  test('never beside anything but paragraphs', () => {
    const html = Array.from({ length: 30 }, () => `<h2>h</h2>${p(900)}<ul><li>x</li></ul>`).join('');
    expect(partsForAds(html, 3)).toHaveLength(1);
  });
  test('never before the third paragraph and never before the last', () => {
    const parts = partsForAds(p(5000) + p(5000) + p(5000) + p(10) + p(10), 3);
    expect(parts[0]).toBe(p(5000) + p(5000) + p(5000));
    expect(parts).toHaveLength(2);
  });
});

describe('takesDropCap', () => {
  test.each([
    [p(200), true],
    [`<p>“${'x'.repeat(200)}</p>`, true],
    [p(50), false],
    [`<p><em>${'x'.repeat(200)}</em></p>`, false],
    [`<p dir="auto">${'ب'.repeat(200)}</p>`, false],
    [`<p>${'7'.repeat(200)}</p>`, false],
    [`<h2>a</h2>${p(200)}`, false],
    ['', false],
    [`<p class="wp-block-paragraph">It ${'x'.repeat(200)}</p>`, true],
    [`<p class="wp-block-paragraph"><em>${'x'.repeat(200)}</em></p>`, false],
    [`<p>PORT AUBURN, Mo. — Denise ${'x'.repeat(200)}</p>`, false],
    [`<p>NEW YORK – It ${'x'.repeat(200)}</p>`, false],
    [`<p>NATO met — as ever ${'x'.repeat(200)}</p>`, false],
  ])('%#', (html, expected) => expect(takesDropCap(html)).toBe(expected));
});
