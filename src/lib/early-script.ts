/**
 * The inline script of a document's head. It runs before the first paint, and again when a page that the browser has prerendered is
 * opened (docs/decisions/0036): cookies may have changed since then. If the kind of reader has changed, the page is loaded again, because
 * another reader may get another variant of it. Until then it is hidden, and what waits for the reader doesn't run: this is
 * the document's first listener, and `whenShown` calls nothing back on a hidden page.
 *
 * @param scripts each marks `<html>` by the cookies of the moment, and removes its mark where the cookie is gone
 */
export const earlyScript = (scripts: readonly string[]): string =>
  `{const h=document.documentElement,f=()=>{${scripts.join('')}};f();const v=h.dataset.visitor;document.onprerenderingchange=()=>{f();if(h.dataset.visitor!=v){h.hidden=!0;location.reload()}}}`;
