import { describe, expect, test } from 'vitest';
import type { StaticPage } from '../content/model.ts';
import { builtinPage, pageText, previewNote, previewTrouble } from './builtin.ts';

import { outline } from './outline.ts';

test.each(['about', 'privacy-policy', 'events', 'oped-guidelines', 'community', 'accessibility', 'cancel'])(
  'the built-in page “%s” has a title and a text',
  (slug) => {
    const page = builtinPage(slug);
    expect(page.title).not.toBe('');
    expect(page.bodyHtml).toMatch(/<p>.{40,}<\/p>/u);
  },
);

test('the heading for the terms of use gets the fixed id Terms-of-use', () => {
  const { html } = outline(builtinPage('privacy-policy').bodyHtml, { 'terms of use': 'Terms-of-use' });
  expect(html).toContain('<h2 id="Terms-of-use">');
});

test('an unknown slug of a built-in page throws a RangeError', () =>
  expect(() => builtinPage('nope')).toThrow(RangeError));

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
  test('uses the editors’ text if there is one, even if it is shorter', () => {
    expect(pageText('about', kept)).toMatchObject({ title: 'Us', excerpt: '', bodyHtml: '<p>We.</p>' });
  });
  test('uses the built-in text if the editors’ page is empty', () => {
    expect(pageText('about', { ...kept, bodyHtml: ' ' }).bodyHtml).toBe(builtinPage('about').bodyHtml);
  });
  test('uses the built-in text if the editors have no such page', () =>
    expect(pageText('print', null).title).toBe('The Sun in print'));
});

test('each status of a failed preview has its own heading', () => {
  const headings = [400, 401, 404, 410, 422, 501, 502].map((status) => previewTrouble(status).heading);
  expect(new Set(headings).size).toBe(7);
});

test('a failed preview with 503 has the same message as one with 502', () => {
  expect(previewTrouble(503)).toEqual(previewTrouble(502));
});

test('the message for an invalid draft names what is wrong with it', () =>
  expect(previewTrouble(422, 'access: expected free, got "gold"').advice).toBe('access: expected free, got "gold"'));

test('the message for an expired preview link says to press Preview again', () =>
  expect(previewTrouble(410).advice).toMatch(/Press Preview/u));

test('the note above the preview of a document with a password says that readers don’t see it', () => {
  expect(previewNote(true)).toMatch(/password.*doesn’t show it to readers/u);
  expect(previewNote()).not.toMatch(/password/u);
});
