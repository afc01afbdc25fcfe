/** State of the search overlay. It searches a moment after each letter, and ignores a response that comes after a newer query. */
import { atom, type ReadableAtom } from 'nanostores';
import type { Reply } from '../../lib/http/ask.ts';
import type { Suggestions } from '../../lib/search/client.ts';
import type { SearchAnswer } from '../../lib/search/model.ts';

export interface SearchState {
  readonly phase: 'idle' | 'loading' | 'found' | 'none' | 'failed' | 'offline';
  /** The current query. */
  readonly query: string;
  /** The last results; they stay until the next response. */
  readonly answer: SearchAnswer | null;
  /** Shown before the first query and where nothing was found; `null` until they are loaded. */
  readonly suggestions: Suggestions | null;
}

export interface FlowOptions {
  ask(query: string, signal: AbortSignal): Promise<Reply<SearchAnswer>>;
  suggest(): Promise<Suggestions>;
  online(): boolean;
}

export interface SearchFlow {
  readonly $state: ReadableAtom<SearchState>;
  /** The sheet opened: loads the suggestions. */
  open(): void;
  /** The text in the field changed. */
  type(text: string): void;
  /** Searches at once: the button, or a retry. */
  submit(text: string): void;
  /** Resets the state and aborts a running request. */
  clear(): void;
}

const idle: SearchState = { phase: 'idle', query: '', answer: null, suggestions: null };

/** Fewest letters for a search without the button. */
const shortest = 2;
/** Milliseconds from a letter to the request. */
const pause = 200;

export function createSearchFlow({ ask, suggest, online }: FlowOptions): SearchFlow {
  const $state = atom<SearchState>(idle);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | null = null;
  let loaded: Suggestions | null = null;
  let loading: Promise<Suggestions> | null = null;

  /** Loaded once; a failure, which leaves both kinds empty, is retried. */
  async function suggestions(): Promise<Suggestions> {
    if (loaded) return loaded;
    loading ??= suggest();
    const found = await loading;
    loading = null;
    if (found.featured.length + found.popular.length > 0) loaded = found;
    return found;
  }

  /** Shows the suggestions while there is no query. */
  const showSuggestions = () => $state.set({ ...idle, suggestions: loaded });

  function stop(): void {
    clearTimeout(timer);
    current?.abort();
    current = null;
  }

  async function runSearch(query: string): Promise<void> {
    stop();
    if (!online()) return $state.set({ ...$state.get(), phase: 'offline', query });
    const mine = new AbortController();
    current = mine;
    $state.set({ ...$state.get(), phase: 'loading', query });
    const answer = await ask(query, mine.signal);
    if (current !== mine) return;
    if (!answer.ok || !answer.value) {
      $state.set({ ...idle, phase: answer.ok || online() ? 'failed' : 'offline', query });
    } else if (answer.value.hits.length > 0) {
      $state.set({ ...idle, phase: 'found', query, answer: answer.value });
    } else {
      $state.set({ ...idle, phase: 'none', query, suggestions: loaded });
      const found = await suggestions();
      if (current === mine) $state.set({ ...$state.get(), suggestions: found });
    }
  }

  return {
    $state,
    open() {
      if (!online()) return;
      void suggestions().then((found) => {
        if ($state.get().phase === 'idle') $state.set({ ...$state.get(), suggestions: found });
      });
    },
    type(text) {
      const query = text.trim();
      // A search for the same text continues; one for another text is outdated, and is stopped.
      if (current && query === $state.get().query) return;
      stop();
      if (query.length < shortest) return showSuggestions();
      timer = setTimeout(() => void runSearch(query), pause);
    },
    submit(text) {
      const query = text.trim();
      if (query !== '') void runSearch(query);
    },
    clear() {
      stop();
      $state.set(idle);
    },
  };
}
