/**
 * What is kept of a walled article where everybody may look: its excerpt and its words in the search index. The level that
 * counts may come from a section, so both are settled where the content store is written, which knows the sections.
 */
import { isWalled, levelOf } from '../../lib/access/model.ts';
import { plainText, truncateAtWord } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import type { IngestedDocument } from '../ingest/document.ts';
import { rewordStory } from '../search/index.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { sectionTable } from './rows.server.ts';

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** Letters by which an excerpt is known for one that WordPress made of the text, and how far in it may begin: behind a caption. */
const telling = 40;
const beginning = 600;

/**
 * An excerpt that goes on where the opening ends tells what is behind the wall: WordPress makes one of a story's first words
 * when its editors write none.
 */
function publicExcerpt(excerpt: string, opening: string, body: string): string {
  const said = letters(excerpt);
  const at = letters(body).indexOf(said.slice(0, telling));
  if (said === '' || at === -1 || at > beginning || letters(opening).includes(said)) return excerpt;
  return truncateAtWord(opening, publication.limits.excerpt);
}

const levelIn = (store: ContentStore, document: Pick<IngestedDocument, 'facts' | 'terms'>) =>
  levelOf(
    document.facts.access ?? 'default',
    sectionTable(store)
      .of(document.terms)
      .map(({ slug }) => slug),
  );

/** The document as the content store may keep it: lists and searches show of a restricted article only its excerpt. */
export function behindItsWall(store: ContentStore, document: IngestedDocument): IngestedDocument {
  if (document.type !== 'articles' || !isWalled(levelIn(store, document))) return document;
  const opening = plainText(document.openingHtml);
  const excerpt = publicExcerpt(document.excerpt, opening, plainText(document.bodyHtml));
  return { ...document, excerpt, searchText: opening };
}

const key = 'walled-sections';

/**
 * Brings the search index and excerpts in line with sections whose level is another than when their articles were indexed: because the
 * publication's rules have changed, or the sections have. To be called at start and after the sections were stored.
 */
export function alignWalls(store: ContentStore): void {
  const levels = Object.fromEntries(
    sectionTable(store)
      .inOrder.filter(({ id }) => id !== 0)
      .map(({ id, slug }) => [String(id), levelOf('default', [slug])] as const)
      .filter(([, level]) => level !== 'default'),
  );
  const before = JSON.parse(store.getMeta(key) ?? '{}') as typeof levels;
  const moved = [...new Set([...Object.keys(before), ...Object.keys(levels)])].filter(
    (id) => before[id] !== levels[id],
  );
  if (moved.length === 0) return;
  store.transaction(() => {
    const articles = store.prepare(
      `SELECT d.id, d.facts, d.terms, d.excerpt, b.body, b.opening FROM listing l JOIN documents d ON d.id = l.id
      JOIN bodies b ON b.id = d.id WHERE l.list = ?`,
    );
    const write = store.prepare('UPDATE documents SET excerpt = ? WHERE id = ?');
    for (const id of moved) {
      for (const row of articles.all(`articles:section:${id}`)) {
        const document = { facts: JSON.parse(String(row.facts)), terms: JSON.parse(String(row.terms)) };
        const body = plainText(String(row.body));
        if (!isWalled(levelIn(store, document))) {
          rewordStory(store, Number(row.id), { body });
          continue;
        }
        const opening = plainText(String(row.opening));
        const excerpt = publicExcerpt(String(row.excerpt), opening, body);
        rewordStory(store, Number(row.id), { body: opening, standfirst: excerpt });
        if (excerpt !== row.excerpt) write.run(excerpt, Number(row.id));
      }
    }
    store.setMeta(key, JSON.stringify(levels));
  });
}
