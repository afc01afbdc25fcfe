/**
 * What the search overlay goes through. Each letter asks again a moment later; an answer that comes after a newer question is not
 * heard. Knows nothing of how it is drawn.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type { Answer } from '../../lib/http/ask.ts';
import type { Suggestions } from '../../lib/search/client.ts';
import type { SearchAnswer } from '../../lib/search/schema.ts';

export interface SearchState {
  readonly phase: 'idle' | 'loading' | 'found' | 'none' | 'failed' | 'offline';
  /** What is looked for now. */
  readonly query: string;
  /** What was found last; it stays while the next answer is on its way. */
  readonly answer: SearchAnswer | null;
  /** Before anything is asked, and where nothing was found; as soon as they are there. */
  readonly suggestions: Suggestions | null;
}

export interface FlowOptions {
  ask(query: string, signal: AbortSignal): Promise<Answer<SearchAnswer>>;
  suggest(signal: AbortSignal): Promise<Suggestions>;
  online(): boolean;
  /** Milliseconds from a letter to the question. */
  readonly pause?: number;
}

export interface SearchFlow {
  readonly $state: ReadableAtom<SearchState>;
  /** The sheet is there: fetches what is shown while nothing is looked for. */
  open(): void;
  /** The field holds this text now. */
  type(text: string): void;
  /** Asks at once: the button, another try. */
  submit(text: string): void;
  /** Forgets everything, and breaks off what is under way. */
  clear(): void;
}

const idle: SearchState = { phase: 'idle', query: '', answer: null, suggestions: null };

/** Letters from which it is worth asking before the button is pressed. */
const shortest = 2;

export function createSearchFlow({ ask, suggest, online, pause = 200 }: FlowOptions): SearchFlow {
  const $state = atom<SearchState>(idle);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | null = null;
  let offered: Suggestions | null = null;
  let offering: Promise<Suggestions> | null = null;

  /** Fetched once; a failure, which leaves both kinds empty, is tried again. */
  async function suggestions(): Promise<Suggestions> {
    if (offered) return offered;
    offering ??= suggest(new AbortController().signal);
    const found = await offering;
    offering = null;
    if (found.featured.length + found.popular.length > 0) offered = found;
    return found;
  }

  /** Nothing is looked for: what there is to read. */
  const rest = () => $state.set({ ...idle, suggestions: offered });

  function stop(): void {
    clearTimeout(timer);
    current?.abort();
    current = null;
  }

  async function look(query: string): Promise<void> {
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
      $state.set({ ...idle, phase: 'none', query, suggestions: offered });
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
      if (query === $state.get().query && $state.get().phase !== 'idle') return;
      stop();
      if (query.length < shortest) return rest();
      timer = setTimeout(() => void look(query), pause);
    },
    submit(text) {
      const query = text.trim();
      if (query !== '') void look(query);
    },
    clear() {
      stop();
      $state.set(idle);
    },
  };
}
