/** What {@link isPlainClick} reads of a click; React's events have it, too. */
type Click = Pick<MouseEvent, 'button' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/**
 * Whether a click should be handled by the page. Clicks that ask for a new tab, a new window or a download are left to the
 * browser.
 */
export const isPlainClick = (event: Click): boolean =>
  event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
