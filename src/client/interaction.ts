/**
 * `client:interaction`: an island costs nothing until somebody touches it. The first pointer, key or focus within it
 * fetches and hydrates it; a click made before that is done is held back and made again once the island can answer.
 * Should the island fail to load, the click is made all the same, and the element does what it does without a script.
 *
 * `client:interaction="or-resumed"` does not wait for a touch where this tab has begun to sign in (lib/accounts/pending.ts).
 *
 * `client:interaction="or-idle-when-signed-in"` does not wait for a touch where `data-visitor` says that somebody is signed in,
 * but for the browser to have nothing else to do.
 */
import type { ClientDirective } from 'astro';

const signs = ['pointerdown', 'touchstart', 'focusin', 'keydown'] as const;

/** A click that asks for a new tab or window is the browser's own business. */
const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

const interaction: ClientDirective = (load, options, element) => {
  let started = false;
  let held: HTMLElement | null = null;

  const hold = (event: MouseEvent) => {
    if (!isPlain(event)) return;
    start();
    event.preventDefault();
    event.stopPropagation();
    held = event.target instanceof HTMLElement ? event.target : null;
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
    load()
      .then((hydrate) => hydrate())
      // React may still be hydrating then; it finishes at once when the click arrives.
      .catch((error: unknown) => console.error('An island could not be started.', error))
      .finally(finish);
  };

  for (const sign of signs) element.addEventListener(sign, start, { passive: true });
  element.addEventListener('click', hold, { capture: true });
  if (options.value === 'or-idle-when-signed-in' && document.documentElement.dataset.visitor) whenIdle(start);
  if (options.value === 'or-resumed' && hasPending()) start();
};

/** The key of lib/accounts/pending.ts, which is too much to load for it. */
function hasPending(): boolean {
  try {
    return sessionStorage.getItem('pending-sign-in') !== null;
  } catch {
    return false;
  }
}

/** There is no idle callback in Safari. */
function whenIdle(action: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(action);
  else setTimeout(action, 200);
}

export default interaction;
