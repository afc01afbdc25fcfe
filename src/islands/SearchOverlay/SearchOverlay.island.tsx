/**
 * The search over the page (spec section 2, "Search overlay"), which `$ui` opens. No page carries it; `scripts/search.ts` fetches it
 * when it is asked for first.
 */
import { useStore } from '@nanostores/react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { askSearch, askSuggestions } from '../../lib/search/client.ts';
import { $ui, closeSearch } from '../../stores/ui.ts';
import { createSearchFlow, type SearchFlow } from './flow.ts';
import { SearchDialog } from './SearchDialog.tsx';

export function SearchOverlay({ flow }: { flow: SearchFlow }) {
  const { searchOverlay } = useStore($ui, { keys: ['searchOverlay'] });
  return searchOverlay ? <SearchDialog flow={flow} onClose={closeSearch} /> : null;
}

let drawn = false;

/** Draws the overlay from now on; once. */
export function mount(): void {
  if (drawn) return;
  drawn = true;
  const flow = createSearchFlow({ ask: askSearch, suggest: askSuggestions, online: () => navigator.onLine });
  const host = document.createElement('div');
  document.body.append(host);
  // Drawn at once, while it is closed still. Drawn open for the first time it would have the focus before React listens to the store,
  // and put back the field to what it held: letters of readers who type at once would be lost.
  flushSync(() => createRoot(host).render(<SearchOverlay flow={flow} />));
  // A page that is left may come back as it was: without the search.
  addEventListener('pagehide', closeSearch);
}
