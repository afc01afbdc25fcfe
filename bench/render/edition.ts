/** What `astro build` is given to render the same pages from the same store: locals for each page, and its addresses. */
import { silent } from '../../src/lib/logging.ts';
import { compose } from '../../src/server/compose.ts';
import { parseConfig } from '../../src/server/config/config.ts';
import { articleKeys } from '../../src/server/press/page-keys.ts';

const app = await compose(parseConfig(process.env), silent);

export const locals = app.locals;

/** Slugs of all articles or all authors. */
export function slugs(kind: string): string[] {
  const { content } = app.services;
  if (kind === 'author')
    return content
      .reader()
      .authors()
      .map(({ slug }) => slug);
  return [...articleKeys(content.reader)].map((key) => key.slice('/article/'.length));
}
