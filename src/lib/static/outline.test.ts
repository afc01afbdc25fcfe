import { expect, test } from 'vitest';
import { cutAfterPart, outline } from './outline.ts';

test('headings get unique ids from their words', () => {
  const { html, items } = outline('<h2>What we keep</h2><p>a</p><h2 class="x">What <em>we</em> keep</h2>');
  expect(items).toEqual([
    { id: 'what-we-keep', text: 'What we keep' },
    { id: 'what-we-keep-2', text: 'What we keep' },
  ]);
  expect(html).toContain('<h2 class="x" id="what-we-keep-2">What <em>we</em> keep</h2>');
});

test('a heading keeps its own id unless a fixed one applies', () => {
  const { html, items } = outline('<h2 id="mine">One</h2><h2 id="theirs">Terms of Use</h2>', {
    'terms of use': 'Terms-of-use',
  });
  expect(items.map((item) => item.id)).toEqual(['mine', 'Terms-of-use']);
  expect(html).not.toContain('theirs');
});

test('a fixed id goes to the first heading that begins with its words', () => {
  const { items } = outline('<h2>Terms of use and of sale</h2><h2>Terms of use</h2>', {
    'terms of use': 'Terms-of-use',
  });
  expect(items.map((item) => item.id)).toEqual(['Terms-of-use', 'terms-of-use']);
});

test('headings in other scripts and with entities get ids, and empty ones get none', () => {
  const { items } = outline('<h2>حرية</h2><h2>Naïve readers</h2><h2>Q&amp;A</h2><h2> </h2><h2>!</h2>');
  expect(items).toEqual([
    { id: 'حرية', text: 'حرية' },
    { id: 'naive-readers', text: 'Naïve readers' },
    { id: 'q-a', text: 'Q&A' },
    { id: 'part-2', text: '!' },
  ]);
});

test('a page without headings is unchanged', () => {
  expect(outline('<p>a</p>')).toEqual({ html: '<p>a</p>', items: [] });
});

test('a page can be cut after the part under a given heading', () => {
  const html = '<h2 id="a">A</h2><p>1</p><h2 id="b">B</h2><p>2</p>';
  expect(cutAfterPart(html, 'a')).toEqual(['<h2 id="a">A</h2><p>1</p>', '<h2 id="b">B</h2><p>2</p>']);
  expect(cutAfterPart(html, 'b')).toEqual([html, '']);
  expect(cutAfterPart(html, 'c')).toBeNull();
});
