import { expect, it } from 'vitest';
import type { StoredPage } from '../../press/store/stored-page.ts';
import { alertInsertion } from './insertions.ts';

const insertion = alertInsertion('<section>news</section>');
const into = (html: string): string | undefined => insertion.into(Buffer.from(html))?.toString();

it('follows the skip link, which stays the first thing on a page', () => {
  const head = '<!doctype html><title>&lt;a class="skip-link"</title><body>';
  const link = '<a class="skip-link" href="#main" data-x>Skip to content</a>';
  expect(into(`${head}${link}<header></header><a>Other</a>`)).toBe(
    `${head}${link}<section>news</section><header></header><a>Other</a>`,
  );
  expect(into('<li>A fragment</li>')).toBeUndefined();
  expect(into(`${head}<a class="skip-link"`)).toBeUndefined();
});

it('keeps bytes that are no letters', () => {
  const body = Buffer.concat([Buffer.from('<a class="skip-link">é</a>'), Buffer.from([0xff, 0x00, 0xc3])]);
  expect(insertion.into(body)?.subarray(-3)).toEqual(Buffer.from([0xff, 0x00, 0xc3]));
});

it('allows its script where scripts are allowed, and nowhere else', () => {
  const policy = insertion.policy("style-src 'self'; script-src 'self' 'sha256-a'; img-src *");
  expect(policy).toMatch(/^style-src 'self'; script-src 'sha256-[\w+/]+={0,2}' 'self' 'sha256-a'; img-src \*$/);
  expect(insertion.policy("script-src-elem 'self'")).toBe("script-src-elem 'self'");
  expect(insertion.policy("script-src 'none'")).toBe("script-src 'none'");
  expect(insertion.policy(undefined)).toBeUndefined();
});

it('is not on the page that browsers keep', () => {
  expect(['/offline', '/', '/article/a'].map((key) => insertion.takes({ key } as StoredPage))).toEqual([
    false,
    true,
    true,
  ]);
});
