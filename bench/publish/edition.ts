/** The synthetic edition as WordPress has it: articles of the content bench, and the editors' changes to them since. */
import { article, authorCount, firstId, sectionSlugs, word } from '../content/synthetic.ts';
import { mark } from '../support/marks.ts';

/** An editor's change; the site learns of it only by a webhook. */
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
  | { readonly kind: 'front'; readonly ids: readonly number[]; readonly headline: string }
  | { readonly kind: 'new'; readonly id: number; readonly title: string }
  | { readonly kind: 'withdrawal'; readonly id: number };

export type Json = Record<string, unknown>;

/** Id of the page that holds the editors' choice for the front page. */
export const topStoriesId = 900;
/** Id of the front of the home page. */
export const frontId = 901;
/** Documents that sync counts without the articles: the authors and the front. */
export const otherDocuments = authorCount + 1;

const began = '2026-01-01T00:00:00';
const rendered = (text: string) => ({ rendered: text, protected: false });

/** Every text has a mark from the start, so that the bench notices if even its first edit is missing. */
export const authorName = (id: number, version: number): string =>
  `Author ${word(id + 500)} ${mark(`a${id}`, version)}`;

interface Change {
  readonly body?: string;
  readonly title?: string;
  readonly section?: number;
  readonly modified: string;
}

interface State {
  readonly live: Set<number>;
  readonly changed: Map<number, Change>;
  readonly names: Map<number, { name: string; modified: string }>;
  top: { ids: number[]; excerpt: string; modified: string };
  front: { ids: number[]; headline: string; modified: string };
  clock: number;
}

export function createEdition(articles: number) {
  const live = new Set(Array.from({ length: articles }, (_, index) => firstId + index));
  const state: State = {
    live,
    changed: new Map(),
    names: new Map(),
    top: { ids: [...live].slice(-6).reverse(), excerpt: mark('t1', 0), modified: began },
    front: { ids: [], headline: '', modified: began },
    clock: Date.parse(`${began}Z`),
  };
  return {
    edit: (edit: Edit): void => apply(state, edit),
    /** Ids of all published articles, oldest first. */
    ids: (): number[] => [...live],
    article: (id: number, base: string): Json | null => articleOf(state, id, base),
    author(id: number): Json | null {
      if (id < 1 || id > authorCount) return null;
      const { name = authorName(id, 0), modified = began } = state.names.get(id) ?? {};
      return post(id, `author-${id}`, name, modified);
    },
    authorIds: (): number[] => Array.from({ length: authorCount }, (_, index) => index + 1),
    front: (id: number): Json | null => (id === frontId ? frontOf(state) : null),
    page: (id: number): Json | null => (id === topStoriesId ? topStories(state) : null),
  };
}

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

function apply(state: State, edit: Edit): void {
  state.clock += 1000;
  const modified = new Date(state.clock).toISOString().slice(0, 19);
  if (edit.kind === 'author') state.names.set(edit.id, { name: edit.name, modified });
  else if (edit.kind === 'top') state.top = { ids: [...edit.ids], excerpt: edit.excerpt, modified };
  else if (edit.kind === 'front') state.front = { ids: [...edit.ids], headline: edit.headline, modified };
  else if (edit.kind === 'withdrawal') state.live.delete(edit.id);
  else {
    const { kind, id, ...part } = edit;
    if (kind === 'new') state.live.add(id);
    state.changed.set(id, { ...state.changed.get(id), ...part, modified });
  }
}

function articleOf({ live, changed, names }: State, id: number, base: string): Json | null {
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
}

const topStories = ({ top }: State): Json => ({
  ...post(topStoriesId, 'top-stories-2', 'Top stories', top.modified),
  acf: {
    top_articles: top.ids,
    breaking: false,
    featured_excerpt: top.excerpt,
    bulleted_featured_excerpt: false,
  },
});

/** The first story leads, with a headline for its place; the last one is a package. */
const frontOf = ({ front: { ids, headline, modified } }: State): Json => ({
  ...post(frontId, 'home', 'Home page', modified),
  front: {
    next: null,
    slots: ids.map((story, at) => ({
      kind: at === 0 ? 'lead' : at === ids.length - 1 ? 'package' : 'second',
      story,
      headline: at === 0 ? headline : '',
      related: at === ids.length - 1 ? ids.slice(0, 2).map((id) => ({ story: id - 1, url: '', title: '' })) : [],
    })),
  },
});
