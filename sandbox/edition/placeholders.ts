/** Pictures inside a body: `{{art:motif}}` is a placeholder for a picture's address until the import. */
import type { PictureSpec } from './model.ts';

const PLACEHOLDER = /\{\{art:([a-z-]+)\}\}/g;

const seedOf = (motif: string) => `inline-${motif}`;

/** One picture for each motif that the bodies name. */
export function picturesWithin(contents: readonly string[]): PictureSpec[] {
  const motifs = new Set(contents.flatMap((content) => [...content.matchAll(PLACEHOLDER)].map(([, motif = '']) => motif)));
  return [...motifs].map((motif) => ({ motif, seed: seedOf(motif), alt: '', caption: '', credit: '' }));
}

/** A body with addresses in place of its placeholders; `addressOf` returns the address of the picture with a seed. */
export const withAddresses = (content: string, addressOf: (seed: string) => string): string =>
  content.replace(PLACEHOLDER, (_, motif: string) => addressOf(seedOf(motif)));
