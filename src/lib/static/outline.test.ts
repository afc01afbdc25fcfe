import { expect, test } from 'vitest';
import { cutAfterPart, outline } from './outline.ts';

test('headings get ids of their words, each once', () => {
  const { html, items } = outline('<h2>What we keep</h2><p>a</p><h2 class="x">What <em>we</em> keep</h2>');
  expect(items).toEqual([
    { id: 'what-we-keep', text: 'What we keep' },
    { id: 'what-we-keep-2', text: 'What we keep' },
  ]);
  expect(html).toContain('<h2 class="x" id="what-we-keep-2">What <em>we</em> keep</h2>');
});

test('an id of its own stays, a fixed one wins', () => {
  const { html, items } = outline('<h2 id="mine">One</h2><h2 id="theirs">Terms of Use</h2>', {
    'terms of use': 'Terms-of-use',
  });
  expect(items.map((item) => item.id)).toEqual(['mine', 'Terms-of-use']);
  expect(html).not.toContain('theirs');
});

test('a fixed id goes to the first heading that begins so', () => {
  const { items } = outline('<h2>Terms of use and of sale</h2><h2>Terms of use</h2>', {
    'terms of use': 'Terms-of-use',
  });
  expect(items.map((item) => item.id)).toEqual(['Terms-of-use', 'terms-of-use']);
});

test('other scripts, entities and empty headings', () => {
  const { items } = outline('<h2>حرية</h2><h2>Naïve readers</h2><h2>Q&amp;A</h2><h2> </h2><h2>!</h2>');
  expect(items).toEqual([
    { id: 'حرية', text: 'حرية' },
    { id: 'naive-readers', text: 'Naïve readers' },
    { id: 'q-a', text: 'Q&A' },
    { id: 'part-2', text: '!' },
  ]);
});

test('a body without headings is left alone', () => {
  expect(outline('<p>a</p>')).toEqual({ html: '<p>a</p>', items: [] });
});

test('a part can be added to', () => {
  const html = '<h2 id="a">A</h2><p>1</p><h2 id="b">B</h2><p>2</p>';
  expect(cutAfterPart(html, 'a')).toEqual(['<h2 id="a">A</h2><p>1</p>', '<h2 id="b">B</h2><p>2</p>']);
  expect(cutAfterPart(html, 'b')).toEqual([html, '']);
  expect(cutAfterPart(html, 'c')).toBeNull();
});
