/**
 * On a slow device, the next page is shown without a fade (styles/view-transition.css). For a fade, the browser first draws this page once
 * more, and the reader waits for that about as long as for the longest frame so far (docs/decisions/0036).
 */

/** Longest frame of a device that fades, milliseconds. */
const longestMs = 150;

addEventListener('pageswap', ({ viewTransition }) => {
  const isSlow = ({ duration }: PerformanceEntry) => duration > longestMs;
  if (performance.getEntriesByType('long-animation-frame').some(isSlow)) viewTransition?.skipTransition();
});
