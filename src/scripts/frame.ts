/**
 * A frame for another site's player. It may run scripts, keep its own origin, which is never ours, and open a window; it may not
 * navigate this page.
 *
 * @param title what a screen reader calls it
 */
export function frame(src: string, title: string): HTMLIFrameElement {
  const element = document.createElement('iframe');
  element.src = src;
  element.title = title;
  element.tabIndex = 0;
  element.allow = 'autoplay; encrypted-media; fullscreen; picture-in-picture';
  element.allowFullscreen = true;
  element.referrerPolicy = 'strict-origin-when-cross-origin';
  const own = new URL(src, location.href).origin === location.origin;
  element.setAttribute(
    'sandbox',
    `allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-presentation${own ? '' : ' allow-same-origin'}`,
  );
  return element;
}
