/**
 * Calls back when the reader sees this page: at once, or when a page that the browser has prerendered is opened and painted
 * (docs/decisions/0036). Whatever counts, asks who is reading or has another effect waits for it. A page that is never opened never
 * calls back, and neither does one that is loaded again because its kind of reader has changed.
 */
export function whenShown(action: () => void): void {
  const act = (): void => {
    // The script of the head hides a page that it loads again (lib/early-script.ts). Its listener comes first.
    if (!document.documentElement.hidden) action();
  };
  // Not all browsers prerender, and not all types have it.
  if ((document as { readonly prerendering?: boolean }).prerendering)
    document.addEventListener('prerenderingchange', () => afterPaint(act), { once: true });
  else act();
}

/** Calls back once the next frame has been painted, so that the reader doesn't wait for what isn't seen. */
export function afterPaint(action: () => void): void {
  requestAnimationFrame(() => setTimeout(action));
}
