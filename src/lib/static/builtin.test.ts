import { describe, expect, test } from 'vitest';
import type { StaticPage } from '../content/model.ts';
import { builtinPage, pageText, previewTrouble } from './builtin.ts';

import { outline } from './outline.ts';

test.each(['about', 'privacy-policy', 'events', 'oped-guidelines', 'community', 'accessibility', 'cancel'])(
  '%s has a text',
  (slug) => {
    const page = builtinPage(slug);
    expect(page.title).not.toBe('');
    expect(page.bodyHtml).toMatch(/<p>.{40,}<\/p>/u);
  },
);

test('the terms of use can be linked', () => {
  const { html } = outline(builtinPage('privacy-policy').bodyHtml, { 'terms of use': 'Terms-of-use' });
  expect(html).toContain('<h2 id="Terms-of-use">');
});

test('an unknown slug is an error', () => expect(() => builtinPage('nope')).toThrow(RangeError));

describe('pageText', () => {
  const kept: StaticPage = {
    id: 1,
    slug: 'about',
    title: 'Us',
    excerpt: '',
    bodyHtml: '<p>We.</p>',
    image: null,
    modified: '2026-11-20T12:00:00Z',
  };
  test('the editors’ words win, also where they say less', () => {
    expect(pageText('about', kept)).toMatchObject({ title: 'Us', excerpt: '', bodyHtml: '<p>We.</p>' });
  });
  test('an empty page says what is built in', () => {
    expect(pageText('about', { ...kept, bodyHtml: ' ' }).bodyHtml).toBe(builtinPage('about').bodyHtml);
  });
  test('so does a missing one', () => expect(pageText('print', null).title).toBe('The Sun in print'));
});

test('every answer has words of its own', () => {
  const headings = [400, 401, 404, 410, 501, 502].map((status) => previewTrouble(status).heading);
  expect(new Set(headings).size).toBe(6);
});

test('WordPress is down, with any status', () => {
  expect(previewTrouble(503)).toEqual(previewTrouble(502));
});

test('an expired link says what to do', () => expect(previewTrouble(410).advice).toMatch(/Press Preview/u));
