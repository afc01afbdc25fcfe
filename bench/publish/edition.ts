/** The synthetic edition as WordPress has it: articles of the content bench, and what the editors have done to them since. */
import { article, authorCount, firstId, sectionSlugs, word } from '../content/synthetic.ts';
import { mark } from '../support/marks.ts';

/** What an editor does; nothing tells the site of it but a webhook. */
export type Edit =
  | {
      readonly kind: 'article';
      readonly id: number;
      readonly body?: string;
      readonly title?: string;
      readonly section?: number;
    }
  | { readonly kind: 'author'; readonly id: number; readonly name: string }
  | { readonly kind: 'top'; readonly ids: readonly number[]; readonly excerpt: string }
  | { readonly kind: 'new'; readonly id: number; readonly title: string }
  | { readonly kind: 'withdrawal'; readonly id: number };

export type Json = Record<string, unknown>;

/** Id of the page that holds the editors' choice for the front page. */
export const topStoriesId = 900;

const began = '2026-01-01T00:00:00';
const rendered = (text: string) => ({ rendered: text, protected: false });

/** Everything has a mark from the beginning, so that even its first edit can be missed. */
export const authorName = (id: number, version: number): string =>
  `Author ${word(id + 500)} ${mark(`a${id}`, version)}`;

export function createEdition(articles: number) {
  const live = new Set(Array.from({ length: articles }, (_, index) => firstId + index));
  const changed = new Map<number, { body?: string; title?: string; section?: number; modified: string }>();
  const names = new Map<number, { name: string; modified: string }>();
  let top = { ids: [...live].slice(-6).reverse(), excerpt: mark('t1', 0), modified: began };
  let clock = Date.parse(`${began}Z`);
  const next = (): string => {
    clock += 1000;
    return new Date(clock).toISOString().slice(0, 19);
  };

  const post = (id: number, slug: string, title: string, modified: string): Json => ({
    id,
    slug,
    status: 'publish',
    date_gmt: began,
    modified_gmt: modified,
    title: rendered(title),
    excerpt: rendered('<p>Covers the city.</p>'),
    content: rendered(''),
    image: null,
  });

  return {
    edit(edit: Edit): void {
      const modified = next();
      if (edit.kind === 'author') names.set(edit.id, { name: edit.name, modified });
      else if (edit.kind === 'top') top = { ids: [...edit.ids], excerpt: edit.excerpt, modified };
      else if (edit.kind === 'withdrawal') live.delete(edit.id);
      else {
        const { kind, id, ...part } = edit;
        if (kind === 'new') live.add(id);
        changed.set(id, { ...changed.get(id), ...part, modified });
      }
    },
    /** Ids of all published articles, oldest first. */
    ids: (): number[] => [...live],
    article(id: number, base: string): Json | null {
      if (!live.has(id)) return null;
      const made = article(id - firstId, base) as Json & {
        title: { rendered: string };
        content: { rendered: string };
        acf: { author: Json };
      };
      const { body = mark(`b${id}`, 0), title = mark(`h${id}`, 0), section, modified } = changed.get(id) ?? {};
      const author = names.get(Number(made.acf.author.id));
      return {
        ...made,
        ...(modified && { modified_gmt: modified }),
        title: rendered(`${made.title.rendered} ${title}`),
        content: rendered(`<p>Told as ${body}.</p>\n\n${made.content.rendered}`),
        ...(section && { category: [{ id: section, slug: sectionSlugs[section - 1] }] }),
        acf: { author: { ...made.acf.author, name: author?.name ?? authorName(Number(made.acf.author.id), 0) } },
      };
    },
    author(id: number): Json | null {
      if (id < 1 || id > authorCount) return null;
      const { name = authorName(id, 0), modified = began } = names.get(id) ?? {};
      return post(id, `author-${id}`, name, modified);
    },
    authorIds: (): number[] => Array.from({ length: authorCount }, (_, index) => index + 1),
    page: (id: number): Json | null =>
      id !== topStoriesId
        ? null
        : {
            ...post(id, 'top-stories-2', 'Top stories', top.modified),
            acf: {
              top_articles: top.ids,
              breaking: false,
              featured_excerpt: top.excerpt,
              bulleted_featured_excerpt: false,
            },
          },
  };
}
