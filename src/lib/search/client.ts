/** Calls of the search from the browser. */
import type { CardsAnswer } from '../cards/wire.ts';
import { ask, type Reply } from '../http/ask.ts';
import type { SearchAnswer } from './model.ts';

/** Results in the overlay. */
const shownAtOnce = 8;

/** Address of the page with all results. */
export const searchPage = (query: string): string => `/search${query ? `?q=${encodeURIComponent(query)}` : ''}`;

export const askSearch = (query: string, signal: AbortSignal): Promise<Reply<SearchAnswer>> =>
  ask<SearchAnswer>(`/api/v1/articles/search?q=${encodeURIComponent(query)}&limit=${shownAtOnce}`, {
    signal,
    timeoutMs: 8000,
  });

/** Suggestions for a search without results: four stories of each kind (spec section 9); a kind that fails to load is empty. */
export async function askSuggestions(): Promise<Suggestions> {
  const [featured, popular] = await Promise.all(
    ['/api/v1/articles/featured?limit=4', '/api/v1/articles/popular/list?limit=4'].map(async (path) => {
      const answer = await ask<CardsAnswer>(path, { timeoutMs: 8000 });
      return answer.ok ? (answer.value?.articles ?? []) : [];
    }),
  );
  return { featured: featured ?? [], popular: popular ?? [] };
}

export interface Suggestions {
  readonly featured: CardsAnswer['articles'];
  readonly popular: CardsAnswer['articles'];
}
