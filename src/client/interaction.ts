/**
 * `client:interaction`: an island costs nothing until a reader touches it. The first pointer, key or focus within it fetches and
 * hydrates it. A click made before that is done is held back, and repeated when the island can answer it, or when the island can't
 * be loaded at the second try either: then the element does what it does without a script.
 *
 * It doesn't wait for a touch:
 * - with `"or-resumed"`, where this tab has begun to sign in (lib/accounts/storage.ts);
 * - with `"or-idle-when-signed-in"`, where `data-visitor` says that the reader is signed in and the browser is idle;
 * - with `"or-seen-for-a-minute"`, when the island has been in view for a minute.
 *
 * A page that is only prerendered starts no island.
 */
import type { ClientDirective } from 'astro';
import { isPlainClick } from '../lib/plain-click.ts';
import { whenShown } from '../lib/when-shown.ts';

const signs = ['pointerdown', 'touchstart', 'focusin', 'keydown'] as const;

const interaction: ClientDirective = (load, options, element) => {
  let started = false;
  let held: HTMLElement | null = null;

  const hold = (event: MouseEvent) => {
    if (!isPlainClick(event)) return;
    start();
    event.preventDefault();
    event.stopPropagation();
    // A script can't click an icon (SVG elements have no `click`), but it can click the HTML element around it.
    held = (event.target as Element).closest<HTMLElement>(':not(svg, svg *)');
  };

  const finish = () => {
    element.removeEventListener('click', hold, { capture: true });
    if (held?.isConnected) held.click();
    held = null;
  };

  const start = () => {
    if (started) return;
    started = true;
    for (const sign of signs) element.removeEventListener(sign, start);
    // A request that fails on a bad connection often succeeds at the second try.
    load()
      .catch(load)
      .then((hydrate) => hydrate())
      // React may still be hydrating then; it finishes at once when the click arrives.
      .catch((error: unknown) => console.error('An island could not be started.', error))
      .finally(finish);
  };

  for (const sign of signs) element.addEventListener(sign, start, { passive: true });
  element.addEventListener('click', hold, { capture: true });
  whenShown(() => {
    if (options.value === 'or-idle-when-signed-in' && document.documentElement.dataset.visitor) whenIdle(start);
    if (options.value === 'or-resumed' && hasPending()) start();
    if (options.value === 'or-seen-for-a-minute') whenSeen(element, start);
  });
};

/** The key is copied from lib/accounts/storage.ts, which is too large to load here. */
function hasPending(): boolean {
  try {
    return sessionStorage.getItem('pending-sign-in') !== null;
  } catch {
    return false;
  }
}

/** Calls back when the first element of the island has been in view for a minute continuously. */
function whenSeen(island: HTMLElement, action: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const view = new IntersectionObserver(([entry]) => {
    clearTimeout(timer);
    if (!entry?.isIntersecting) return;
    timer = setTimeout(() => {
      view.disconnect();
      action();
    }, 60_000);
  });
  // `<astro-island>` itself has no box, so its first child is observed.
  if (island.firstElementChild) view.observe(island.firstElementChild);
}

/** Safari has no `requestIdleCallback`. */
function whenIdle(action: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(action);
  else setTimeout(action, 200);
}

export default interaction;
