/**
 * Calls back when the reader sees this page: at once, or when a page that the browser has prerendered is opened and painted
 * (docs/decisions/0036). Code that counts, asks who is reading or has another effect waits for it. The action is never called for a
 * page that is never opened, or that is loaded again because its kind of reader has changed.
 */
export function whenShown(action: () => void): void {
  const act = (): void => {
    // The script in the head hides a page before it reloads it (lib/early-script.ts); its listener runs first.
    if (!document.documentElement.hidden) action();
  };
  // Not all browsers prerender, and TypeScript's DOM types lack it.
  if ((document as { readonly prerendering?: boolean }).prerendering)
    document.addEventListener('prerenderingchange', () => afterPaint(act), { once: true });
  else act();
}

/** Calls back once the next frame has been painted, so that readers don't wait for work that isn't visible. */
export function afterPaint(action: () => void): void {
  requestAnimationFrame(() => setTimeout(action));
}
