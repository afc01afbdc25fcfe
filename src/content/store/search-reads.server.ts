/** The searches of one reader: what the index finds becomes cards, and the tags of both are noted. */

import type { ContentReader, FoundArticles, SearchFilter } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { canonicalInstant } from '../../lib/instants.ts';
import type { FoundIds, IndexFilter } from '../search/search.server.ts';
import { type SearchThread, searchInThread, searchNow } from '../search/search-thread.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import { type Read, readCardOf } from './read.server.ts';
import { sectionTable } from './rows.server.ts';

/** The searches of one reader. @param thread `null`: `searchAsync` runs searches in the calling thread */
export function searchReads(read: Read, thread: SearchThread | null): Pick<ContentReader, 'search' | 'searchAsync'> {
  const { store } = read;
  return {
    search(query, filter) {
      const asked = indexFilter(read, filter);
      return asked ? shown(read, searchNow(store, query, asked)) : nothingFound;
    },
    async searchAsync(query, filter) {
      const asked = indexFilter(read, filter);
      if (!asked) return nothingFound;
      return shown(read, thread ? await searchInThread(store, thread, query, asked) : searchNow(store, query, asked));
    },
  };
}

/** The filter as the index expects it; `null` for an unknown section. */
function indexFilter({ store, tags }: Read, filter: SearchFilter = {}): IndexFilter | null {
  tags.add(tag.search);
  const section = filter.section === undefined ? undefined : sectionTable(store).bySlug(canonicalSlug(filter.section));
  if (section === null || section?.id === 0) return null;
  const instant = (text: string | undefined) => (text === undefined ? undefined : canonicalInstant(text));
  const { offset, limit } = filter;
  return { offset, limit, since: instant(filter.since), until: instant(filter.until), term: section?.id };
}

function shown(read: Read, { hits, total, added }: FoundIds): FoundArticles {
  const items = hits.flatMap(({ id, snippet }) => {
    const hit = readCardOf(read, id);
    return hit ? [{ ...hit, snippet }] : [];
  });
  return { items, total, added };
}

const nothingFound: FoundArticles = { items: [], total: 0, added: [] };
