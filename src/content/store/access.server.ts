/**
 * The public parts of a restricted article: its excerpt and its text in the search index. A section may set the access level, so the
 * content store, which knows the sections, determines both when it writes.
 */
import { isLevelRaised, isRestrictedLevel, levelOf, type SectionRules } from '../../lib/access/model.ts';
import { comparedLetters, letters } from '../../lib/article/model.ts';
import type { AccessLevel } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import type { Logger } from '../../lib/logging.ts';
import { plainText, truncateAtWord } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import type { IngestedDocument } from '../ingest/document.ts';
import { updateStoryText } from '../search/index.server.ts';
import { forgetCards } from './cards.server.ts';
import type { DocumentVersion } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';
import { withEntries } from './live.server.ts';
import { ruledTerms, ruledTermsKey } from './navigation.server.ts';
import { factsOf, sectionTable } from './rows.server.ts';

/** How many letters of the text may come before such an excerpt: a caption may come first. */
const latestStart = 600;

/**
 * If WordPress made the excerpt from the start of the text, it may be longer than the opening and reveal restricted text; the opening
 * then replaces it.
 */
function publicExcerpt(excerpt: string, opening: string, body: string): string {
  const excerptLetters = letters(excerpt);
  const at = letters(body).indexOf(excerptLetters.slice(0, comparedLetters));
  if (excerptLetters === '' || at === -1 || at > latestStart || letters(opening).includes(excerptLetters))
    return excerpt;
  return truncateAtWord(opening, publication.limits.excerpt);
}

/** Whether a document has parts that not everyone may read. */
export const isRestricted = (store: ContentStore, document: Pick<IngestedDocument, 'facts' | 'terms'>): boolean =>
  isRestrictedLevel(levelIn(store, document));

const levelIn = (store: ContentStore, { facts, terms }: Pick<IngestedDocument, 'facts' | 'terms'>): AccessLevel =>
  sectionTable(store).levelOf(facts.access, terms);

/** Whether fewer readers may read the whole article than its previous version, by its own level or its sections' level. */
export const isStricter = (
  store: ContentStore,
  before: Pick<DocumentVersion, 'facts' | 'terms'>,
  after: IngestedDocument,
): boolean => isLevelRaised(levelIn(store, before), levelIn(store, after));

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

const levelsKey = 'walled-sections';

export interface LevelsChange {
  readonly tags: ReadonlySet<string>;
  /** Tags of the pages that show what has become restricted: a whole story, or an excerpt that was longer. */
  readonly withdrawnTags: ReadonlySet<string>;
}

/**
 * Updates the search index and excerpts for sections whose access level has changed since their articles were indexed, because the
 * publication's rules or the sections changed. Call it at start and after the sections were stored.
 */
export function updateRestrictedSections(store: ContentStore): LevelsChange {
  const [tags, withdrawnTags] = [new Set<string>(), new Set<string>()];
  const { levels, ids } = ruledTerms(store);
  if (JSON.stringify(ids) !== (store.getMeta(ruledTermsKey) ?? '{}')) store.setMeta(ruledTermsKey, JSON.stringify(ids));
  const before = JSON.parse(store.getMeta(levelsKey) ?? '{}') as SectionRules;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(levels)])].filter(
    (id) => before[id] !== levels[id],
  );
  if (changed.length === 0) return { tags, withdrawnTags };
  store.transaction(() => {
    const articles = store.prepare(
      `SELECT d.id, d.facts, d.terms, d.excerpt, b.body, b.opening FROM listing l JOIN documents d ON d.id = l.id
      JOIN bodies b ON b.id = d.id WHERE l.list = ?`,
    );
    const writeExcerpt = store.prepare('UPDATE documents SET excerpt = ? WHERE id = ?');
    for (const section of changed) {
      for (const row of articles.all(`articles:section:${section}`)) {
        const id = Number(row.id);
        const facts = factsOf(row);
        const levelBy = (rules: SectionRules): AccessLevel =>
          levelOf(facts.access ?? 'default', (JSON.parse(String(row.terms)) as number[]).map(String), rules);
        const level = levelBy(levels);
        if (level === levelBy(before)) continue;
        for (const each of [tag.article(id), tag.card(id), tag.search]) tags.add(each);
        if (isLevelRaised(levelBy(before), level)) withdrawnTags.add(tag.article(id));
        const body = plainText(String(row.body));
        if (!isRestrictedLevel(level)) {
          updateStoryText(store, id, { body: withEntries(store, id, facts, body) });
          continue;
        }
        const opening = plainText(String(row.opening));
        const excerpt = publicExcerpt(String(row.excerpt), opening, body);
        updateStoryText(store, id, { body: opening, standfirst: excerpt });
        if (excerpt === row.excerpt) continue;
        withdrawnTags.add(tag.card(id));
        writeExcerpt.run(excerpt, id);
        forgetCards(store, { type: 'articles', id });
      }
    }
    store.setMeta(levelsKey, JSON.stringify(levels));
    store.invalidateCaches();
  });
  return { tags, withdrawnTags };
}

const warned = new WeakMap<ContentStore, string>();

/** Names rules that no section of WordPress has, once while they stay the same. */
export function warnOfUnknownRules(store: ContentStore, log: Logger): void {
  const { unknownRules } = sectionTable(store);
  const text = unknownRules.join();
  if ((warned.get(store) ?? '') === text) return;
  warned.set(store, text);
  for (const rule of unknownRules) {
    const remedy =
      'Correct the slug in access.sections, or in WordPress; stories of a section that had it stay restricted';
    log.warn({ rule }, `content: no section has the slug of this access rule. ${remedy}`);
  }
}
