/**
 * Adds the next page of a list in place: fetches the page that the link leads to, takes its stories, and moves the link
 * on. The address follows (without a new entry in the history), so that reloading and sharing lead to what is on screen.
 * Where anything fails the link is followed as a link.
 */

/** The children of the list in a fetched page, and where that page says the list goes on. */
function readPage(html: string, listId: string): { items: Element[]; next: string | null } {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const list = page.getElementById(listId);
  return {
    items: list ? [...list.children] : [],
    next: page.querySelector(`[data-load-more="${listId}"] a[rel="next"]`)?.getAttribute('href') ?? null,
  };
}

/** A list under days (/latest): a page that goes on with the day the list ends with brings its heading a second time. */
function continueDay(last: Element | null, first: Element | undefined): void {
  if (!(last instanceof HTMLElement) || !(first instanceof HTMLElement) || !first.dataset.day) return;
  if (last.dataset.day === first.dataset.day) first.querySelector('.day')?.remove();
}

function enhance(nav: HTMLElement): void {
  const list = document.getElementById(nav.dataset.loadMore ?? '');
  const link = nav.querySelector<HTMLAnchorElement>('a[rel="next"]');
  const status = nav.parentElement?.querySelector<HTMLElement>('[data-load-more-status]');
  const noun = nav.dataset.noun ?? 'stories';
  if (!list || !link) return;

  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button button-plain';
  button.textContent = `More ${noun}`;
  link.replaceWith(button);
  nav.querySelector('.where')?.remove();
  nav.dataset.ready = '';

  let next: string | null = link.getAttribute('href');
  button.addEventListener('click', async () => {
    if (next === null || button.getAttribute('aria-disabled') === 'true') return;
    const address = next;
    button.setAttribute('aria-disabled', 'true');
    button.textContent = 'Loading…';
    try {
      const response = await fetch(address, { headers: { Accept: 'text/html' } });
      if (!response.ok) throw new Error(`${address} answered ${response.status}`);
      const page = readPage(await response.text(), list.id);
      if (page.items.length === 0) throw new Error(`${address} has no list ${list.id}`);
      continueDay(list.lastElementChild, page.items[0]);
      list.append(...page.items);
      next = page.next;
      history.replaceState(history.state, '', address);
      dispatchEvent(new Event('broadsheet:stories'));
      if (status) status.textContent = `${page.items.length} more ${noun} loaded.`;
      page.items[0]?.querySelector<HTMLAnchorElement>('.headline a, h2 a, h3 a, a')?.focus({ preventScroll: true });
      button.removeAttribute('aria-disabled');
      button.textContent = `More ${noun}`;
      if (next === null) nav.remove();
    } catch {
      location.assign(address);
    }
  });
}

for (const nav of document.querySelectorAll<HTMLElement>('[data-load-more]')) enhance(nav);
