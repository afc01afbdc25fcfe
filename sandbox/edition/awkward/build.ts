/** The few block shapes that the awkward posts share. They are written as WordPress's editor writes them. */
import type { AwkwardPost } from '../model.ts';

/** Paragraph blocks of inline HTML. */
export const paragraphs = (...texts: readonly string[]): string =>
  texts.map((text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`).join('\n\n');

/** A heading block; `level` 2 to 6. */
export const heading = (text: string, level = 2): string => {
  const attributes = level === 2 ? '' : ` {"level":${level}}`;
  return `<!-- wp:heading${attributes} -->\n<h${level} class="wp-block-heading">${text}</h${level}>\n<!-- /wp:heading -->`;
};

/** A "Custom HTML" block: what an editor pastes by hand, kept as it is. */
export const html = (markup: string): string => `<!-- wp:html -->\n${markup}\n<!-- /wp:html -->`;

/** Blocks one after another. */
export const body = (...blocks: readonly string[]): string => blocks.join('\n\n');

/** A plain published article, which each case changes in one respect. */
export const article = (
  post: Pick<AwkwardPost, 'slug' | 'title' | 'hours'> & Partial<Omit<AwkwardPost, 'slug' | 'title' | 'hours'>>,
): AwkwardPost => ({
  type: 'articles',
  status: 'publish',
  contentHtml: paragraphs(
    'The desk keeps this page for a question of typography, and the answer is above.',
    'If the headline, the standfirst and the byline have each found their place, the page has done its work.',
  ),
  excerpt: 'A short item that the copy desk keeps in type because one thing about it is out of the ordinary.',
  author: 'the-editors',
  sections: ['national'],
  image: { motif: 'newspaper-press', alt: 'A newspaper press at rest.', credit: 'Illustration: The Sun' },
  ...post,
});
