/** Calls back when the page is loaded and the browser has nothing better to do. */
export function whenQuiet(action: () => void): void {
  const idle = () => {
    // There is no idle callback in Safari.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(action, { timeout: 1500 });
    else setTimeout(action, 200);
  };
  if (document.readyState === 'complete') idle();
  else addEventListener('load', idle, { once: true });
}
