/** The sheet of the search: a field, and beneath it what was found or why nothing was. */
import { useStore } from '@nanostores/react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { searchPage } from '../../lib/search/client.ts';
import { searchMessages } from '../../lib/search/messages.ts';
import { publication } from '../../publication.ts';
import { $ui, setSearchInput } from '../../stores/ui.ts';
import { giveBack, holdPage } from '../shared/Dialog.tsx';
import type { SearchFlow } from './flow.ts';
import { Grid, Hits } from './Results.tsx';
import styles from './SearchOverlay.module.css';

interface Props {
  flow: SearchFlow;
  onClose(): void;
}

export function SearchDialog({ flow, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { searchInput } = useStore($ui, { keys: ['searchInput'] });
  const state = useStore(flow.$state);
  const { phase, query, answer, suggestions } = state;

  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const opener = document.activeElement;
    const release = holdPage();
    if (!element.open) element.showModal();
    field.current?.focus();
    flow.open();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
    return () => {
      element.close();
      release();
      giveBack(opener);
      flow.clear();
    };
  }, [flow]);

  useEffect(() => flow.type(searchInput), [flow, searchInput]);

  useEffect(() => {
    if (phase !== 'offline') return;
    const again = () => flow.submit(query);
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [flow, phase, query]);

  const move = (event: KeyboardEvent) => {
    const links = [...(dialog.current?.querySelectorAll<HTMLElement>('[data-result]') ?? [])];
    const stops = [field.current, ...links].filter((each) => each !== null);
    const at = stops.indexOf(document.activeElement as HTMLElement);
    const onLink = at > 0;
    const to =
      event.key === 'ArrowDown'
        ? at + 1
        : event.key === 'ArrowUp'
          ? at - 1
          : onLink && event.key === 'Home'
            ? 1
            : onLink && event.key === 'End'
              ? stops.length - 1
              : -1;
    if (at === -1 || to < 0 || !stops[to]) return;
    event.preventDefault();
    stops[to].focus();
  };

  const says = {
    idle: '',
    loading: searchMessages.loading,
    found: answer ? searchMessages.count(answer.nbHits) : '',
    none: searchMessages.none,
    failed: searchMessages.failed,
    offline: searchMessages.offline,
  }[phase];

  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={`Search ${publication.name}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={move}
    >
      <div className={styles.sheet}>
        <search className={styles.bar}>
          <form
            className={styles.form}
            action="/search"
            onSubmit={(event) => {
              event.preventDefault();
              flow.submit(searchInput);
            }}
          >
            <label className="visually-hidden" htmlFor="overlay-search">
              Search the paper
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
              placeholder="Search"
              value={searchInput}
              onChange={(event) => setSearchInput(event.target.value)}
              onKeyDown={(event) => {
                // In a field of this kind Escape would empty it first; here it closes, as it does everywhere in the sheet.
                if (event.key !== 'Escape') return;
                event.preventDefault();
                onClose();
              }}
            />
            <button type="submit" className="button">
              Search
            </button>
            <button type="button" className={styles.close} aria-label="Close" onClick={onClose}>
              <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
                <path
                  d="M4 4l12 12M16 4L4 16"
                  fill="none"
                  stroke="currentColor"
                  strokeWidth="1.6"
                  strokeLinecap="round"
                />
              </svg>
            </button>
          </form>
        </search>
        <div className={styles.body} aria-busy={phase === 'loading'}>
          {answer && <h2 className={styles.heading}>{searchMessages.top(answer.query)}</h2>}
          <p className={phase === 'none' ? styles.none : styles.says} role="status">
            {says}
            {phase === 'found' && answer && answer.instead.length > 0 && (
              <>, also with {answer.instead.map((word) => `“${word}”`).join(', ')}</>
            )}
          </p>
          {phase === 'failed' && (
            <p className={styles.ways}>
              <button type="button" className="button button-plain" onClick={() => flow.submit(query)}>
                Try again
              </button>
              <a href={searchPage(query)}>Search on a page of its own</a>
            </p>
          )}
          {answer && <Hits answer={answer} stale={phase !== 'found'} />}
          {suggestions && (
            <>
              <Grid name="Featured" cards={suggestions.featured} />
              <Grid name="Popular" cards={suggestions.popular} />
            </>
          )}
        </div>
      </div>
    </dialog>
  );
}
