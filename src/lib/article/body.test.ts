import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blocks, partsForAds, takesDropCap } from './body.ts';

const p = (length: number) => `<p>${'x'.repeat(length)}</p>`;

describe('splitting a story body into blocks', () => {
  test('splits nested, void, commented and bare markup at the top level', () => {
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
  test('keeps an element inside one of its own kind in the same block', () => {
    expect(blocks('<div><div>a</div></div><p>b</p>').map((block) => block.name)).toEqual(['div', 'p']);
  });
  test('returns no blocks for an empty body', () => expect(blocks('')).toEqual([]));
  test('gives the same body back when the blocks are joined, for any input', () => {
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

describe('cutting a story body for ads', () => {
  test('leaves a short body in one part', () => {
    expect(partsForAds(p(300) + p(300), 3)).toHaveLength(1);
    expect(partsForAds('', 3)).toEqual(['']);
  });
  test('cuts a long body at most as often as asked, and loses nothing', () => {
    const html = Array.from({ length: 60 }, () => p(600)).join('');
    const parts = partsForAds(html, 3);
    expect(parts).toHaveLength(4);
    expect(parts.join('')).toBe(html);
  });
  test('never cuts next to anything but paragraphs', () => {
    const html = Array.from({ length: 30 }, () => `<h2>h</h2>${p(900)}<ul><li>x</li></ul>`).join('');
    expect(partsForAds(html, 3)).toHaveLength(1);
  });
  test('never cuts before the third paragraph or before the last', () => {
    const parts = partsForAds(p(5000) + p(5000) + p(5000) + p(10) + p(10), 3);
    expect(parts[0]).toBe(p(5000) + p(5000) + p(5000));
    expect(parts).toHaveLength(2);
  });
});

describe('a drop cap', () => {
  test.each([
    ['a long paragraph', p(200), true],
    ['a quotation mark', `<p>“${'x'.repeat(200)}</p>`, true],
    ['a short paragraph', p(50), false],
    ['italics', `<p><em>${'x'.repeat(200)}</em></p>`, false],
    ['Arabic letters', `<p dir="auto">${'ب'.repeat(200)}</p>`, false],
    ['digits', `<p>${'7'.repeat(200)}</p>`, false],
    ['a heading', `<h2>a</h2>${p(200)}`, false],
    ['nothing', '', false],
    ['a long paragraph from the block editor', `<p class="wp-block-paragraph">It ${'x'.repeat(200)}</p>`, true],
    ['italics from the block editor', `<p class="wp-block-paragraph"><em>${'x'.repeat(200)}</em></p>`, false],
    ['a dateline', `<p>PORT AUBURN, Mo. — Denise ${'x'.repeat(200)}</p>`, false],
    ['a dateline with an en dash', `<p>NEW YORK – It ${'x'.repeat(200)}</p>`, false],
    ['an acronym, and a dash after the next word', `<p>NATO met — as ever ${'x'.repeat(200)}</p>`, false],
  ])('depends on how the story opens: %s', (_, html, expected) => expect(takesDropCap(html)).toBe(expected));
});
