/**
 * The comments of a page, as far as they cost everyone: links are links, and the first that is followed fetches what follows it
 * in place (comments-page.ts). A reader whose own comment waits for the editors is shown it at once.
 */
const region = document.querySelector<HTMLElement>('[data-comments]');
const { visitor } = document.documentElement.dataset;

function isWaiting(): boolean {
  try {
    return (localStorage.getItem('comments-waiting') ?? '').split(',').includes(region?.dataset.comments ?? '');
  } catch {
    return false;
  }
}

region?.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-more],a[data-sort],a[data-act]');
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
  // Who is not signed in is asked to, by the page that the link leads to.
  if (link.dataset.act && !document.documentElement.dataset.visitor) return;
  event.preventDefault();
  import('./comments-page.ts').then(
    ({ follow }) => follow(link),
    () => location.assign(link.href),
  );
});

if (region && visitor && isWaiting()) import('./comments-page.ts').then(({ wake }) => wake()).catch(() => {});
