/** A cache of search results, valid until the next write: readers search for the same words, and each typed letter repeats a search. */
import type { ContentStore } from '../store/content-store.server.ts';
import { indexRevision } from './index.server.ts';
import { type FoundArticles, type SearchFilter, searchArticles } from './search.server.ts';
import type { SearchThread } from './search-thread.server.ts';

const mostKept = 500;

interface Kept {
  readonly revision: string;
  /** The least recently used result comes first. */
  readonly found: Map<string, FoundArticles>;
  /** Searches in progress; equal searches share a result. */
  readonly sought: Map<string, Promise<FoundArticles>>;
}

const answers = new WeakMap<ContentStore, Kept>();

function keptFor(store: ContentStore): Kept {
  const revision = indexRevision(store);
  let kept = answers.get(store);
  if (kept?.revision !== revision) {
    kept = { revision, found: new Map(), sought: new Map() };
    answers.set(store, kept);
  }
  return kept;
}

const questionOf = (text: string, filter: SearchFilter): string => JSON.stringify([text, filter]);

function recall({ found }: Kept, question: string): FoundArticles | undefined {
  const known = found.get(question);
  if (known) keep(found, question, known);
  return known;
}

function keep(found: Map<string, FoundArticles>, question: string, answer: FoundArticles): void {
  found.delete(question);
  found.set(question, answer);
  if (found.size <= mostKept) return;
  const [oldest] = found.keys();
  if (oldest !== undefined) found.delete(oldest);
}

/** Searches in the calling thread. */
export function answerNow(store: ContentStore, text: string, filter: SearchFilter): FoundArticles {
  const kept = keptFor(store);
  const question = questionOf(text, filter);
  const known = recall(kept, question);
  if (known) return known;
  const found = searchArticles(store, text, filter);
  keep(kept.found, question, found);
  return found;
}

/** Searches in the search thread. @throws SearchBusy */
export async function answerAside(
  store: ContentStore,
  thread: SearchThread,
  text: string,
  filter: SearchFilter,
): Promise<FoundArticles> {
  // The cache is chosen before the search: a write in the meantime gives later searches a new one, so they don't find this result.
  const kept = keptFor(store);
  const question = questionOf(text, filter);
  const known = recall(kept, question) ?? kept.sought.get(question);
  if (known) return known;
  const seeking = thread
    .ask(text, filter)
    .then((found) => {
      keep(kept.found, question, found);
      return found;
    })
    .finally(() => kept.sought.delete(question));
  kept.sought.set(question, seeking);
  return seeking;
}
