/**
 * Comments page on in place. The links lead to pages that hold the same lists, so the script fetches what the link leads
 * to and moves the list's items and the next link here; without it, or when the fetch fails, the links are links.
 *
 * Contract with the markup: a link `a[data-more]` stands behind the list whose id is in its `data-more`; the fetched page
 * holds a list with the same id, and behind it a link again when there is more. With `data-whole` the fetched list
 * replaces what stands here.
 */
const region = document.querySelector<HTMLElement>('[data-comments]');

async function load(link: HTMLAnchorElement): Promise<void> {
  const id = link.dataset.more ?? '';
  const list = document.getElementById(id);
  if (!list) return location.assign(link.href);
  link.setAttribute('aria-busy', 'true');
  let page: Document;
  try {
    const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    return location.assign(link.href);
  }
  const fetched = page.getElementById(id);
  if (!fetched) return location.assign(link.href);

  // A comment that came in between shifts the pages: what is here already is not shown twice.
  const items = [...fetched.children].filter((item) => 'whole' in link.dataset || !document.getElementById(item.id));
  const first = items[0];
  if ('whole' in link.dataset) list.replaceChildren(...items);
  else list.append(...items);
  const next = page.querySelector(`a[data-more="${CSS.escape(id)}"]`);
  if (next) link.replaceWith(next);
  else link.remove();
  dispatchEvent(new Event('broadsheet:stories'));
  if (first instanceof HTMLElement) {
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }
}

region?.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-more]') : null;
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
  event.preventDefault();
  if (link.getAttribute('aria-busy') !== 'true') void load(link);
});
