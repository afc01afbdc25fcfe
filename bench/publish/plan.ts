/** The kinds of edit: what the editors do, what the site must be told, and which tags it must find out by itself. */
import { article, firstId, random, sectionSlugs } from '../content/synthetic.ts';
import { mark } from '../support/marks.ts';
import { authorName, type Edit, topStoriesId } from './edition.ts';

export const kinds = [
  'body only',
  'headline',
  'new section',
  'author renamed',
  'top stories reordered',
  'new article',
  'withdrawal',
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
  readonly sure: readonly string[];
  readonly what: string;
  readonly version: number;
}

/** Above every version: what is withdrawn may be seen in none. */
const never = Number.MAX_SAFE_INTEGER;
/** Edits are of the newest articles, as in life; the site has made these ahead. */
const newest = 300;

/** Plans edits one after another; the same for the same number of articles. */
export function planner(articles: number): (kind: Kind) => Plan {
  const next = random(articles);
  const versions = new Map<string, number>();
  const sections = new Map<number, readonly number[]>();
  const added: number[] = [];
  // What subscribers pay for shows its end to nobody; the marks are read as the public reads them.
  const free = Array.from({ length: Math.min(newest, articles) }, (_, at) => articles - 1 - at).filter(
    (at) => at % 5 !== 0,
  );
  const any = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const made = (id: number) =>
    article(id - firstId, '') as { acf: { author: { id: number } }; category: { id: number }[] };
  const sectionsOf = (id: number): readonly number[] => sections.get(id) ?? made(id).category.map((each) => each.id);
  const slug = (section: number): string => `section:${sectionSlugs[section - 1]}`;
  const path = (id: number): string => `/article/story-${id}`;
  const raise = (what: string): number => {
    const version = (versions.get(what) ?? 0) + 1;
    versions.set(what, version);
    return version;
  };
  const hook = (type: string, id: number, name: string, part: object = {}) => ({
    event: 'update',
    type,
    id,
    slug: name,
    previous_slug: null,
    status: 'publish',
    modified: '2026-01-01T00:00:00Z',
    ...part,
  });
  const wholeOf = (id: number): string[] => [
    ...[`slug:articles:story-${id}`, `article:${id}`, `card:${id}`, 'search', 'latest'],
    ...[...sectionsOf(id).map(slug), `author:${made(id).acf.author.id}`],
  ];

  function ofArticle(kind: 'body only' | 'headline' | 'new section'): Plan {
    const id = firstId + any(free);
    const what = `${kind === 'body only' ? 'b' : 'h'}${id}`;
    const version = raise(what);
    const shown = mark(what, version);
    const common = { hook: hook('articles', id, `story-${id}`), gone: null, sure: [path(id)], what, version };
    if (kind === 'body only') {
      return { ...common, edit: { kind: 'article', id, body: shown }, tags: [`article:${id}`, 'search'] };
    }
    const tags = [`article:${id}`, `card:${id}`, 'search'];
    if (kind === 'headline') return { ...common, edit: { kind: 'article', id, title: shown }, tags };
    // The headline goes with it, so that every page that shows the card shows which version it has.
    const old = sectionsOf(id);
    const section = any(sectionSlugs.map((_, at) => at + 1).filter((each) => !old.includes(each)));
    sections.set(id, [section]);
    const edit = { kind: 'article', id, title: shown, section } as const;
    return { ...common, edit, tags: [...tags, ...[...old, section].map(slug)] };
  }

  return (kind) => {
    switch (kind) {
      case 'author renamed': {
        const article = firstId + any(free);
        const { id } = made(article).acf.author;
        const what = `a${id}`;
        const version = raise(what);
        return {
          edit: { kind: 'author', id, name: authorName(id, version) },
          hook: hook('authors', id, `author-${id}`, { event: 'author' }),
          tags: [`profile:${id}`, `byline:${id}`, 'authors', 'search'],
          gone: null,
          sure: [path(article)],
          what,
          version,
        };
      }
      case 'top stories reordered': {
        const what = 't1';
        const version = raise(what);
        const ids = Array.from({ length: 6 }, () => firstId + any(free.slice(0, 60)));
        return {
          edit: { kind: 'top', ids: [...new Set(ids)], excerpt: `The morning’s reports: ${mark(what, version)}` },
          hook: hook('pages', topStoriesId, 'top-stories-2'),
          tags: ['top-stories'],
          gone: null,
          sure: ['/'],
          what,
          version,
        };
      }
      case 'new article': {
        let id =
          firstId + articles + (added.at(-1) === undefined ? 0 : (added.at(-1) as number) - firstId - articles + 1);
        // Only what is free, see above.
        if ((id - firstId) % 5 === 0) id++;
        added.push(id);
        const what = `h${id}`;
        const version = raise(what);
        return {
          edit: { kind: 'new', id, title: mark(what, version) },
          hook: hook('articles', id, `story-${id}`, { event: 'publish' }),
          tags: wholeOf(id),
          gone: null,
          sure: [path(id), '/latest', '/rss.xml'],
          what,
          version,
        };
      }
      case 'withdrawal': {
        const id = added.pop();
        if (id === undefined)
          throw new Error('Only articles that were added are withdrawn: measure "new article" before it.');
        return {
          edit: { kind: 'withdrawal', id },
          hook: hook('articles', id, `story-${id}`, { event: 'trash', status: 'trash' }),
          tags: wholeOf(id),
          gone: `article:${id}`,
          sure: [path(id)],
          what: `h${id}`,
          version: never,
        };
      }
      default:
        return ofArticle(kind);
    }
  };
}
