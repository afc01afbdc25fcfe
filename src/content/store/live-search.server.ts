/**
 * The entries of live stories in the search index, each with its story. A removal is part of the change itself, so that search doesn't find
 * deleted text. New entries are added a moment later, several at once: they must reach open pages first, and each addition indexes the text
 * of the whole story again.
 */
import { plainText } from '../../lib/text.ts';
import { updateStoryText } from '../search/index.server.ts';
import { isRestricted } from './access.server.ts';
import type { DocumentVersion } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';
import { withEntries } from './live.server.ts';
import { factsOf } from './rows.server.ts';

const prefix = 'index-entries:';

/** Part of the transaction that writes an entry. @param before `null`: it is new; @param after `null`: it is withdrawn */
export function indexEntry(store: ContentStore, before: DocumentVersion | null, after: DocumentVersion | null): void {
  const [was, is] = [before?.facts.story, after?.facts.story];
  if (was !== undefined) indexStoryEntries(store, was);
  if (is !== undefined && is !== was) store.setMeta(`${prefix}${is}`, '1');
}

/**
 * Adds the new entries of one story.
 *
 * @returns whether there may be more stories
 */
export function indexNewEntries(store: ContentStore): boolean {
  return store.transaction(() => {
    const note = store
      .prepare("SELECT key FROM meta WHERE key >= 'index-entries:' AND key < 'index-entries;' LIMIT 1")
      .get();
    if (!note) return false;
    const key = String(note.key);
    indexStoryEntries(store, Number(key.slice(prefix.length)));
    store.prepare('DELETE FROM meta WHERE key = ?').run(key);
    return true;
  });
}

function indexStoryEntries(store: ContentStore, id: number): void {
  const row = store
    .prepare(
      "SELECT d.facts, d.terms, b.body FROM documents d JOIN bodies b ON b.id = d.id WHERE d.id = ? AND d.type = 'articles'",
    )
    .get(id);
  if (!row) return;
  const facts = factsOf(row);
  if (!facts.live || isRestricted(store, { facts, terms: JSON.parse(String(row.terms)) })) return;
  updateStoryText(store, id, { body: withEntries(store, id, facts, plainText(String(row.body))) });
}
