/**
 * Posts that a newspaper's site must cope with: each is unusual in one respect. Only the tests' edition has them; `npm start` shows a
 * newspaper without them. Each kind of trouble has a file in `awkward/`.
 *
 * In `contentHtml`, `{{art:motif}}` is a placeholder that the importer replaces with the address of a picture.
 */
import { addresses } from './awkward/addresses.ts';
import { embeds } from './awkward/embeds.ts';
import { guarded } from './awkward/guarded.ts';
import { headlines } from './awkward/headlines.ts';
import { hostile } from './awkward/hostile.ts';
import { languages } from './awkward/languages.ts';
import { long } from './awkward/long.ts';
import { markup } from './awkward/markup.ts';
import type { AwkwardPost } from './model.ts';

export const awkward: readonly AwkwardPost[] = [
  ...headlines,
  ...markup,
  ...embeds,
  ...languages,
  ...long,
  ...guarded,
  ...addresses,
  ...hostile,
];
