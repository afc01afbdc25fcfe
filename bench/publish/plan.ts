/** The kinds of edit: the editors' change, the webhook that reports it, and the tags that the site must find itself. */
import { randomNumbers } from '../../sandbox/random.ts';
import { article, firstId, sectionSlugs } from '../content/synthetic.ts';
import { mark } from '../support/marks.ts';
import { authorName, type Edit, frontId, topStoriesId } from './edition.ts';

export const kinds = [
  'body only',
  'headline',
  'new section',
  'author renamed',
  'top stories reordered',
  'new article',
  'withdrawal',
  'front',
] as const;
export type Kind = (typeof kinds)[number];

export interface Plan {
  readonly edit: Edit;
  readonly hook: object;
  /** Tags that the edit touches. */
  readonly tags: readonly string[];
  /** Tag of what is withdrawn. */
  readonly gone: string | null;
  /** Pages that must show the mark, or answer 410, as soon as the webhook is answered. */
  readonly mustShow: readonly string[];
  readonly subject: string;
  readonly version: number;
}

/** Higher than every version, because no version of withdrawn content may be seen. */
const anyVersionIsStale = Number.MAX_SAFE_INTEGER;
/** Edits change the newest articles, as in a real newsroom; the site has rendered these in advance. */
const newest = 300;

interface State {
  readonly articles: number;
  readonly next: () => number;
  readonly versions: Map<string, number>;
  readonly sections: Map<number, readonly number[]>;
  /** Articles that were added, oldest first. */
  readonly added: number[];
  /** Positions of the newest articles that are free: the bench reads the marks as the public does. */
  readonly publicPositions: readonly number[];
}

/** Plans edits one after another; the same for the same number of articles. */
export function planner(articles: number): (kind: Kind) => Plan {
  const newestFirst = Array.from({ length: Math.min(newest, articles) }, (_, at) => articles - 1 - at);
  const state: State = {
    articles,
    next: randomNumbers(articles),
    versions: new Map(),
    sections: new Map(),
    added: [],
    publicPositions: newestFirst.filter((at) => at % 5 !== 0),
  };
  return (kind) => planOf[kind](state);
}

const planOf: Readonly<Record<Kind, (state: State) => Plan>> = {
  'body only': (state) => ofArticle(state, 'body only'),
  headline: (state) => ofArticle(state, 'headline'),
  'new section': (state) => ofArticle(state, 'new section'),
  'author renamed': ofAuthor,
  'top stories reordered': ofTopStories,
  'new article': ofNewArticle,
  withdrawal: ofWithdrawal,
  front: ofFront,
};

function pickOne<T>({ next }: State, list: readonly T[]): T {
  return list[Math.floor(next() * list.length)] as T;
}
const syntheticArticle = (id: number) =>
  article(id - firstId, '') as { acf: { author: { id: number } }; category: { id: number }[] };
const sectionsOf = ({ sections }: State, id: number): readonly number[] =>
  sections.get(id) ?? syntheticArticle(id).category.map((each) => each.id);
const sectionTag = (section: number): string => `section:${sectionSlugs[section - 1]}`;
const path = (id: number): string => `/article/story-${id}`;

function nextVersion({ versions }: State, subject: string): number {
  const version = (versions.get(subject) ?? 0) + 1;
  versions.set(subject, version);
  return version;
}

const webhook = (type: string, id: number, name: string, part: object = {}) => ({
  event: 'update',
  type,
  id,
  slug: name,
  previous_slug: null,
  status: 'publish',
  modified: '2026-01-01T00:00:00Z',
  ...part,
});

const allTagsOf = (state: State, id: number): string[] => [
  ...[`slug:articles:story-${id}`, `article:${id}`, `card:${id}`, 'search', 'latest'],
  ...[...sectionsOf(state, id).map(sectionTag), `author:${syntheticArticle(id).acf.author.id}`],
];

function ofArticle(state: State, kind: 'body only' | 'headline' | 'new section'): Plan {
  const id = firstId + pickOne(state, state.publicPositions);
  const subject = `${kind === 'body only' ? 'b' : 'h'}${id}`;
  const version = nextVersion(state, subject);
  const shown = mark(subject, version);
  const common = { hook: webhook('articles', id, `story-${id}`), gone: null, mustShow: [path(id)], subject, version };
  if (kind === 'body only') {
    return { ...common, edit: { kind: 'article', id, body: shown }, tags: [`article:${id}`, 'search'] };
  }
  const tags = [`article:${id}`, `card:${id}`, 'search'];
  if (kind === 'headline') return { ...common, edit: { kind: 'article', id, title: shown }, tags };
  // The headline changes, too, so that every page with the card shows which version it has.
  const old = sectionsOf(state, id);
  const section = pickOne(
    state,
    sectionSlugs.map((_, at) => at + 1).filter((each) => !old.includes(each)),
  );
  state.sections.set(id, [section]);
  const edit = { kind: 'article', id, title: shown, section } as const;
  return { ...common, edit, tags: [...tags, ...[...old, section].map(sectionTag)] };
}

function ofAuthor(state: State): Plan {
  const article = firstId + pickOne(state, state.publicPositions);
  const { id } = syntheticArticle(article).acf.author;
  const subject = `a${id}`;
  const version = nextVersion(state, subject);
  return {
    edit: { kind: 'author', id, name: authorName(id, version) },
    hook: webhook('authors', id, `author-${id}`, { event: 'author' }),
    tags: [`profile:${id}`, `byline:${id}`, 'authors', 'search'],
    gone: null,
    mustShow: [path(article)],
    subject,
    version,
  };
}

function ofTopStories(state: State): Plan {
  const subject = 't1';
  const version = nextVersion(state, subject);
  const ids = Array.from({ length: 6 }, () => firstId + pickOne(state, state.publicPositions.slice(0, 60)));
  return {
    edit: { kind: 'top', ids: [...new Set(ids)], excerpt: `The morning’s reports: ${mark(subject, version)}` },
    hook: webhook('pages', topStoriesId, 'top-stories-2'),
    tags: ['top-stories'],
    gone: null,
    mustShow: ['/'],
    subject,
    version,
  };
}

function ofNewArticle(state: State): Plan {
  let id = (state.added.at(-1) ?? firstId + state.articles - 1) + 1;
  // Every fifth article is for subscribers, and the public sees no mark in it.
  if ((id - firstId) % 5 === 0) id++;
  state.added.push(id);
  const subject = `h${id}`;
  const version = nextVersion(state, subject);
  return {
    edit: { kind: 'new', id, title: mark(subject, version) },
    hook: webhook('articles', id, `story-${id}`, { event: 'publish' }),
    tags: allTagsOf(state, id),
    gone: null,
    mustShow: [path(id), '/latest', '/rss.xml'],
    subject,
    version,
  };
}

function ofWithdrawal(state: State): Plan {
  const id = state.added.pop();
  if (id === undefined)
    throw new Error('Only articles that were added are withdrawn: measure "new article" before it.');
  return {
    edit: { kind: 'withdrawal', id },
    hook: webhook('articles', id, `story-${id}`, { event: 'trash', status: 'trash' }),
    tags: allTagsOf(state, id),
    gone: `article:${id}`,
    mustShow: [path(id)],
    subject: `h${id}`,
    version: anyVersionIsStale,
  };
}

/** Ten slots of the home page in another order. */
function ofFront(state: State): Plan {
  const subject = 'f1';
  const version = nextVersion(state, subject);
  const ids = Array.from({ length: 10 }, () => firstId + pickOne(state, state.publicPositions.slice(0, 60)));
  return {
    edit: { kind: 'front', ids: [...new Set(ids)], headline: `The morning’s news: ${mark(subject, version)}` },
    hook: webhook('fronts', frontId, 'home'),
    tags: ['front:home'],
    gone: null,
    mustShow: ['/'],
    subject,
    version,
  };
}
