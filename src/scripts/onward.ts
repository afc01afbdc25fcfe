/**
 * Brings the lists that lead on from a page when a reader comes near them. What is fetched is the same for every story of a
 * section or author: the story itself, and what stands on the page already, are left out here. Where a list cannot be
 * fetched, the link above it leads to the same stories.
 */

/** Distance in CSS pixels at which a list is fetched: far enough to be there before the reader is. */
const ahead = 800;

/** Links of the stories that a page shows already. */
const headlines = '.headline a, .rail-list h3 a';

const pathOf = (link: HTMLAnchorElement | null): string => (link ? new URL(link.href).pathname : '');

async function bring(place: HTMLElement): Promise<void> {
  const { fragment = '', limit = '6' } = place.dataset;
  try {
    const response = await fetch(fragment);
    if (!response.ok) throw new Error(`${fragment} answered ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const here = new Set([location.pathname]);
    for (const link of document.querySelectorAll<HTMLAnchorElement>(headlines)) here.add(pathOf(link));
    const items = [...page.body.children].filter((item) => {
      const link = item.querySelector<HTMLAnchorElement>(`${headlines}, a`);
      return link !== null && !here.has(pathOf(link));
    });
    if (items.length > 0) place.replaceChildren(...items.slice(0, Number(limit)));
    else if (place.children.length === 0) place.closest('section')?.remove();
    dispatchEvent(new Event('broadsheet:stories'));
  } catch {
    // The heading is a link to all of them.
  }
  delete place.dataset.fragment;
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      if (target instanceof HTMLElement) void bring(target);
    }
  },
  { rootMargin: `${ahead}px 0px` },
);
for (const place of document.querySelectorAll<HTMLElement>('[data-fragment]')) near.observe(place);
