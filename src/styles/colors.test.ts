/** Colors that aren’t read from tokens.css, in mail, in the browser's frame and in pictures, are those of tokens.css. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const source = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const tokens = source('styles/tokens.css');
const token = (name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(tokens)?.[1] ?? '';

it.each([
  ['lib/mail/messages/layout.ts', "ground: '", 'paper-tint'],
  ['lib/mail/messages/layout.ts', "sheet: '", 'paper-raised'],
  ['lib/mail/messages/layout.ts', "ink: '", 'ink'],
  ['lib/mail/messages/layout.ts', "rule: '", 'rule'],
  ['lib/mail/messages/layout.ts', "gold: '", 'gold-deep'],
  ['layouts/Base.astro', "'#000000' : '", 'paper'],
  ['pages/site.webmanifest.ts', "background_color: '", 'paper'],
  ['pages/site.webmanifest.ts', "theme_color: '", 'paper'],
  ['lib/images/resize.server.ts', "background: '", 'paper'],
  ['components/alerts/AlertBanner.astro', '.alert { background: ', 'red'],
  ['islands/PaywallModal/stripe.ts', "token('--ink', '", 'ink'],
  ['islands/PaywallModal/stripe.ts', "token('--paper-raised', '", 'paper-raised'],
  ['islands/PaywallModal/stripe.ts', "token('--red', '", 'red'],
])('in %s, the color after %s is the one in tokens.css', (file, before, name) => {
  const text = source(file);
  const at = text.indexOf(before);
  expect(at).toBeGreaterThan(-1);
  expect(text.slice(at + before.length, at + before.length + 7)).toBe(token(name));
});
