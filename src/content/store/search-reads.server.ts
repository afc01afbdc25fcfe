/** The searches of one reader: what the index finds becomes cards, and the tags of both are noted. */

import type { ContentReader, FoundArticles, SearchFilter } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { canonicalInstant } from '../../lib/instants.ts';
import type { FoundIds, IndexFilter } from '../search/search.server.ts';
import { type SearchThread, searchInThread, searchNow } from '../search/search-thread.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import type { FrontContext } from './front.server.ts';
import { sectionTable } from './rows.server.ts';

interface SearchContext extends FrontContext {
  /** Runs searches off the main thread; `null`: `searchAsync` runs them in the calling thread. */
  readonly thread: SearchThread | null;
}

/** The searches of one reader. */
export const searchReads = (context: SearchContext): Pick<ContentReader, 'search' | 'searchAsync'> => ({
  search: (query, filter) => search(context, query, filter),
  searchAsync: (query, filter) => searchAsync(context, query, filter),
});

/** The filter as the index expects it; `null` for an unknown section. */
function indexFilter(context: SearchContext, filter: SearchFilter): IndexFilter | null {
  context.tags.add(tag.search);
  const section =
    filter.section === undefined ? undefined : sectionTable(context.store).bySlug(canonicalSlug(filter.section));
  if (section === null || section?.id === 0) return null;
  const instant = (text: string | undefined) => (text === undefined ? undefined : canonicalInstant(text));
  const { offset, limit } = filter;
  return { offset, limit, since: instant(filter.since), until: instant(filter.until), term: section?.id };
}

function shown(context: SearchContext, { hits, total, added }: FoundIds): FoundArticles {
  const items = hits.flatMap(({ id, snippet }) => {
    const hit = context.card(id);
    return hit ? [{ ...hit, snippet }] : [];
  });
  return { items, total, added };
}

function search(context: SearchContext, query: string, filter: SearchFilter | undefined = {}): FoundArticles {
  const asked = indexFilter(context, filter);
  return asked ? shown(context, searchNow(context.store, query, asked)) : nothingFound;
}

async function searchAsync(
  context: SearchContext,
  query: string,
  filter: SearchFilter | undefined = {},
): Promise<FoundArticles> {
  const asked = indexFilter(context, filter);
  if (!asked) return nothingFound;
  return shown(
    context,
    context.thread
      ? await searchInThread(context.store, context.thread, query, asked)
      : searchNow(context.store, query, asked),
  );
}

const nothingFound: FoundArticles = { items: [], total: 0, added: [] };
