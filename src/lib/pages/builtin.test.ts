import { expect, test } from 'vitest';
import { builtinPage } from './builtin.ts';
import { outline } from './outline.ts';

test.each(['about', 'privacy-policy', 'events', 'oped-guidelines', 'community', 'cancel'])('%s has a text', (slug) => {
  const page = builtinPage(slug);
  expect(page.title).not.toBe('');
  expect(page.bodyHtml).toMatch(/<p>.{40,}<\/p>/u);
});

test('the terms of use can be linked', () => {
  const { html } = outline(builtinPage('privacy-policy').bodyHtml, { 'terms of use': 'Terms-of-use' });
  expect(html).toContain('<h2 id="Terms-of-use">');
});

test('an unknown slug is an error', () => expect(() => builtinPage('nope')).toThrow(RangeError));
