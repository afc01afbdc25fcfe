/** What {@link isPlainClick} reads of a click; React's events have it, too. */
type Click = Pick<MouseEvent, 'button' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/** Whether a click is for this page: one that asks for a new tab, a new window or a download is the browser's own business. */
export const isPlainClick = (event: Click): boolean =>
  event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
