/**
 * The public parts of a restricted article: its excerpt and its text in the search index. A section may set the access level, so the
 * content store, which knows the sections, determines both when it writes.
 */
import { isWalled, levelOf } from '../../lib/access/model.ts';
import { plainText, truncateAtWord } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import type { IngestedDocument } from '../ingest/document.ts';
import { rewordStory } from '../search/index.server.ts';
import { forgetCards } from './cards.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { withEntries } from './live.server.ts';
import { sectionTable } from './rows.server.ts';

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * The letters that identify an excerpt as one that WordPress took from the text, and how far into the text it may start: a caption may
 * come first.
 */
const identifying = 40;
const latestStart = 600;

/**
 * If WordPress made the excerpt from the start of the text, it may be longer than the opening and reveal restricted text; the opening
 * then replaces it.
 */
function publicExcerpt(excerpt: string, opening: string, body: string): string {
  const excerptLetters = letters(excerpt);
  const at = letters(body).indexOf(excerptLetters.slice(0, identifying));
  if (excerptLetters === '' || at === -1 || at > latestStart || letters(opening).includes(excerptLetters))
    return excerpt;
  return truncateAtWord(opening, publication.limits.excerpt);
}

/** Whether a document has parts that not everyone may read. */
export const isRestricted = (store: ContentStore, document: Pick<IngestedDocument, 'facts' | 'terms'>): boolean =>
  isWalled(levelIn(store, document));

const levelIn = (store: ContentStore, document: Pick<IngestedDocument, 'facts' | 'terms'>) =>
  levelOf(
    document.facts.access ?? 'default',
    sectionTable(store)
      .of(document.terms)
      .map(({ slug }) => slug),
  );

/** The document as the content store may store it: lists and search show only the excerpt of a restricted article. */
export function withPublicText(store: ContentStore, document: IngestedDocument): IngestedDocument {
  if (document.type !== 'articles' || !isRestricted(store, document)) return document;
  const opening = plainText(document.openingHtml);
  const excerpt = publicExcerpt(document.excerpt, opening, plainText(document.bodyHtml));
  return { ...document, excerpt, searchText: opening };
}

/** The public text of a story for the search index. */
export const indexedText = (store: ContentStore, document: IngestedDocument): string =>
  isRestricted(store, document)
    ? document.searchText
    : withEntries(store, document.id, document.facts, document.searchText);

const key = 'walled-sections';

/**
 * Updates the search index and excerpts for sections whose access level has changed since their articles were indexed, because the
 * publication's rules or the sections changed. Call it at start and after the sections were stored.
 */
export function updateRestrictedSections(store: ContentStore): void {
  const levels = Object.fromEntries(
    sectionTable(store)
      .inOrder.filter(({ id }) => id !== 0)
      .map(({ id, slug }) => [String(id), levelOf('default', [slug])] as const)
      .filter(([, level]) => level !== 'default'),
  );
  const before = JSON.parse(store.getMeta(key) ?? '{}') as typeof levels;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(levels)])].filter(
    (id) => before[id] !== levels[id],
  );
  if (changed.length === 0) return;
  store.transaction(() => {
    const articles = store.prepare(
      `SELECT d.id, d.facts, d.terms, d.excerpt, b.body, b.opening FROM listing l JOIN documents d ON d.id = l.id
      JOIN bodies b ON b.id = d.id WHERE l.list = ?`,
    );
    const write = store.prepare('UPDATE documents SET excerpt = ? WHERE id = ?');
    for (const id of changed) {
      for (const row of articles.all(`articles:section:${id}`)) {
        const document = { facts: JSON.parse(String(row.facts)), terms: JSON.parse(String(row.terms)) };
        const body = plainText(String(row.body));
        if (!isRestricted(store, document)) {
          rewordStory(store, Number(row.id), { body: withEntries(store, Number(row.id), document.facts, body) });
          continue;
        }
        const opening = plainText(String(row.opening));
        const excerpt = publicExcerpt(String(row.excerpt), opening, body);
        rewordStory(store, Number(row.id), { body: opening, standfirst: excerpt });
        if (excerpt === row.excerpt) continue;
        write.run(excerpt, Number(row.id));
        forgetCards(store, { type: 'articles', id: Number(row.id) });
      }
    }
    store.setMeta(key, JSON.stringify(levels));
  });
}
