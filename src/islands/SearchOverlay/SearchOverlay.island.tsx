/**
 * The search over the page (spec section 2, "Search overlay"), which `$ui` opens. No page carries it; `scripts/header.ts` fetches it
 * when it is asked for first.
 */
import { useStore } from '@nanostores/react';
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { askSearch, askSuggestions, searchPage } from '../../lib/search/client.ts';
import { searchMessages } from '../../lib/search/messages.ts';
import { publication } from '../../publication.ts';
import { $ui, closeSearch, setSearchInput } from '../../stores/ui.ts';
import { closeAfterPaint, useModal } from '../shared/Dialog.tsx';
import { useRetryOnline } from '../shared/online.ts';
import { createSearchFlow, type SearchFlow } from './flow.ts';
import { Grid, Hits } from './Results.tsx';
import styles from './SearchOverlay.module.css';

function SearchOverlay({ flow }: { flow: SearchFlow }) {
  const { searchOverlay } = useStore($ui, { keys: ['searchOverlay'] });
  return searchOverlay ? <SearchDialog flow={flow} onClose={closeSearch} /> : null;
}

let mounted = false;

/** Renders the overlay; later calls do nothing. */
export function mount(): void {
  if (mounted) return;
  mounted = true;
  const flow = createSearchFlow({ ask: askSearch, suggest: askSuggestions, online: () => navigator.onLine });
  const host = document.createElement('div');
  document.body.append(host);
  // Rendered at once, while it is closed. If the first render were open, the field would have the focus before React subscribes to the
  // store, and the first letters of a fast typist would be lost.
  flushSync(() => createRoot(host).render(<SearchOverlay flow={flow} />));
  // The browser may restore this page later; it must come back without the search.
  addEventListener('pagehide', closeSearch);
}

/** The sheet of the search: a field, and below it the results or the reason why there are none. */
function SearchDialog({ flow, onClose }: { flow: SearchFlow; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const leave = () => closeAfterPaint(dialog.current, onClose);
  useModal(dialog);
  useLayoutEffect(() => {
    const input = field.current;
    input?.focus();
    flow.open();
    input?.setSelectionRange(input.value.length, input.value.length);
    return flow.clear;
  }, [flow]);
  // The field stays in view while the page scrolls; new results start at the top.
  useEffect(
    () =>
      flow.$state.listen(({ query }, before) => {
        if (dialog.current && query !== before?.query) dialog.current.scrollTop = 0;
      }),
    [flow],
  );

  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={`Search ${publication.name}`}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClose={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={moveFocus}
    >
      <div className={styles.sheet}>
        <search className={styles.bar}>
          <SearchForm field={field} flow={flow} onClose={leave} />
        </search>
        <Results flow={flow} />
      </div>
    </dialog>
  );
}

/** Arrow keys, Home and End move between the field and the results. */
function moveFocus(event: KeyboardEvent<HTMLDialogElement>): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input[name="q"], [data-result]')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (at === -1) return;
  // In the field, Home and End move the cursor.
  const edges: Readonly<Record<string, number>> = at > 0 ? { Home: 1, End: stops.length - 1 } : {};
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, ...edges }[event.key] ?? -1;
  if (to < 0 || !stops[to]) return;
  event.preventDefault();
  stops[to].focus();
}

interface SearchFormProps {
  field: RefObject<HTMLInputElement | null>;
  flow: SearchFlow;
  onClose(): void;
}

function SearchForm({ field, flow, onClose }: SearchFormProps) {
  const { searchInput } = useStore($ui, { keys: ['searchInput'] });
  useEffect(() => flow.type(searchInput), [flow, searchInput]);
  return (
    <form
      className={styles.form}
      action="/search"
      onSubmit={(event) => {
        event.preventDefault();
        flow.submit(searchInput);
      }}
    >
      <label className="visually-hidden" htmlFor="overlay-search">
        {searchMessages.label}
      </label>
      <input
        ref={field}
        id="overlay-search"
        className={styles.field}
        name="q"
        type="search"
        required
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        placeholder={searchMessages.search}
        value={searchInput}
        onChange={(event) => setSearchInput(event.target.value)}
        onKeyDown={(event) => {
          // Escape would first clear a search field; here it closes the sheet at once.
          if (event.key !== 'Escape') return;
          event.preventDefault();
          onClose();
        }}
      />
      <button type="submit" className="button">
        {searchMessages.search}
      </button>
      <button type="button" className={styles.close} aria-label={searchMessages.close} onClick={onClose}>
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
          <path d="M4 4l12 12M16 4L4 16" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
        </svg>
      </button>
    </form>
  );
}

function Results({ flow }: { flow: SearchFlow }) {
  const { phase, query, answer, suggestions } = useStore(flow.$state);
  useRetryOnline(phase === 'offline', () => flow.submit(query));

  const status = {
    idle: '',
    loading: searchMessages.loading,
    found: answer ? searchMessages.count(answer.nbHits) + searchMessages.also(answer.instead) : '',
    none: searchMessages.none,
    failed: searchMessages.failed,
    offline: searchMessages.offline,
  }[phase];
  return (
    <div className={styles.body} aria-busy={phase === 'loading'}>
      {answer && <h2 className={styles.heading}>{searchMessages.top(answer.query)}</h2>}
      <p className={phase === 'none' ? styles.none : styles.says} role="status">
        {status}
      </p>
      {phase === 'failed' && (
        <p className={styles.ways}>
          <button type="button" className="button button-plain" onClick={() => flow.submit(query)}>
            {searchMessages.again}
          </button>
          <a href={searchPage(query)}>{searchMessages.ownPage}</a>
        </p>
      )}
      {answer && <Hits answer={answer} stale={phase !== 'found'} />}
      {suggestions && (
        <>
          <Grid name={searchMessages.featured} cards={suggestions.featured} />
          <Grid name={searchMessages.popular} cards={suggestions.popular} />
        </>
      )}
    </div>
  );
}
