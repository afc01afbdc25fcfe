/** Bylines in the content store: ids and an agency in a document's row, names in the rows of the authors. */
import type { AuthorRef, Byline } from '../../lib/content/model.ts';
import type { BylineFacts, DocumentFacts } from '../ingest/document.ts';
import type { ContentStore } from './content-store.server.ts';

/** The authors of these ids, in their order; those without a document are left out. */
function authorRefs(store: ContentStore, ids: readonly number[]): AuthorRef[] {
  const find = store.prepare("SELECT id, title, slug FROM documents WHERE id = ? AND type = 'authors'");
  return ids.flatMap((id) => {
    const row = find.get(id);
    return row ? [{ id, name: String(row.title), slug: String(row.slug) }] : [];
  });
}

/** The byline of a story that has more than its one author: co-authors, contributors or an agency. */
export const readByline = (store: ContentStore, { authors, contributors, agency }: BylineFacts): Byline => ({
  authors: authorRefs(store, authors),
  contributors: authorRefs(store, contributors),
  agency,
});

/** Whether a person is an author or a contributor. */
export const isCredited = ({ authors, contributors }: Byline, id: number): boolean =>
  [...authors, ...contributors].some((person) => person.id === id);

/** Who made a document: its first author, and a byline if there are more. */
interface Credited {
  readonly authorId: number | null;
  readonly facts: DocumentFacts;
}

/** Ids of the authors and contributors, also of those without a document: the pages change when it arrives. */
export function creditedIds({ authorId, facts: { byline } }: Credited): readonly number[] {
  if (byline) return [...byline.authors, ...byline.contributors];
  return authorId === null ? [] : [authorId];
}

/** Every name of a byline, for the search index. */
export function bylineNames(store: ContentStore, credited: Credited): string {
  const names = authorRefs(store, creditedIds(credited)).map(({ name }) => name);
  const { agency } = credited.facts.byline ?? {};
  return [...names, ...(agency ? [agency.name] : [])].join(', ');
}
