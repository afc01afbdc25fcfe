import { expect, it } from 'vitest';
import type { StoredPage } from '../../press/store/stored-page.ts';
import { alertInsertion } from './insertions.ts';

const insertion = alertInsertion('<section>news</section>');
const into = (html: string): string | undefined => insertion.into(Buffer.from(html))?.toString();

it('the alert is inserted after the skip link, and only into pages that have one', () => {
  const head = '<!doctype html><title>&lt;a class="skip-link"</title><body>';
  const link = '<a class="skip-link" href="#main" data-x>Skip to content</a>';
  expect(into(`${head}${link}<header></header><a>Other</a>`)).toBe(
    `${head}${link}<section>news</section><header></header><a>Other</a>`,
  );
  expect(into('<li>A fragment</li>')).toBeUndefined();
  expect(into(`${head}<a class="skip-link"`)).toBeUndefined();
});

it('inserting the alert keeps bytes that are not text', () => {
  const body = Buffer.concat([Buffer.from('<a class="skip-link">é</a>'), Buffer.from([0xff, 0x00, 0xc3])]);
  expect(insertion.into(body)?.subarray(-3)).toEqual(Buffer.from([0xff, 0x00, 0xc3]));
});

it('the policy allows the alert’s script only where it allows scripts', () => {
  const policy = insertion.policy("style-src 'self'; script-src 'self' 'sha256-a'; img-src *");
  expect(policy).toMatch(/^style-src 'self'; script-src 'sha256-[\w+/]+={0,2}' 'self' 'sha256-a'; img-src \*$/);
  expect(insertion.policy("script-src-elem 'self'")).toBe("script-src-elem 'self'");
  expect(insertion.policy("script-src 'none'")).toBe("script-src 'none'");
  expect(insertion.policy(undefined)).toBeUndefined();
});

it('the alert is not inserted into the offline page', () => {
  expect(['/offline', '/', '/article/a'].map((key) => insertion.takes({ key } as StoredPage))).toEqual([
    false,
    true,
    true,
  ]);
});
