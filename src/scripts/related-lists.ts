/**
 * Loads the lists of related stories when a reader scrolls near them. A fragment is the same for every story of a section or author, so
 * the story itself and stories that the page already shows are removed here. If a list can't be loaded, the link above it leads to the
 * same stories.
 */
import { whenShown } from '../lib/when-shown.ts';

/** Distance in CSS pixels at which a list is loaded, so that it is there before the reader. */
const loadDistance = 800;

/** Links of the stories that a page shows already. */
const headlines = '.headline a, .rail-list h3 a';

/** Number of stories that a list shows. */
const lengthOf = ({ dataset }: HTMLElement): number => Number(dataset.limit);

async function fetchFragment(fragment: string): Promise<Document> {
  const response = await fetch(fragment);
  if (!response.ok) throw new Error(fragment);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/** Removes an empty list with its heading; if it is in view, only hides it, so that the content below does not move. */
function removeOrHide(section: HTMLElement): void {
  if (section.getBoundingClientRect().top > innerHeight) section.remove();
  else section.style.visibility = 'hidden';
}

function fill(place: HTMLElement, page: Document): void {
  const shown = document.querySelectorAll<HTMLAnchorElement>(headlines);
  // In a ranked list no story is left out.
  const here = 'ranked' in place.dataset ? [] : [location.pathname, ...[...shown].map(({ pathname }) => pathname)];
  const items = [...page.body.children].filter((item) => {
    const link = item.querySelector('a');
    return link && !here.includes(link.pathname);
  });
  if (items.length > 0) place.replaceChildren(...items.slice(0, lengthOf(place)));
  // A link to the whole list doesn't count as a story.
  else if (!place.querySelector(headlines)) removeOrHide(place.closest('section') as HTMLElement);
  dispatchEvent(new Event('broadsheet:stories'));
}

/** Lists are fetched in parallel and filled in order, so that what each leaves out does not depend on the network. */
let lastFilled: Promise<void> = Promise.resolve();

async function load(place: HTMLElement, earlier: Promise<void>): Promise<void> {
  try {
    const page = fetchFragment(place.dataset.fragment ?? '');
    page.catch(() => {});
    await earlier;
    fill(place, await page);
  } catch {
    // The list can't be loaded; its heading links to the whole list.
  }
  delete place.dataset.fragment;
}

const near = new IntersectionObserver(
  (entries) => {
    const places = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target as HTMLElement);
    // Shorter lists first: longer ones have more stories to choose from.
    for (const place of places.sort((a, b) => lengthOf(a) - lengthOf(b))) {
      near.unobserve(place);
      lastFilled = load(place, lastFilled);
    }
  },
  { rootMargin: `${loadDistance}px 0px` },
);
whenShown(() => {
  for (const place of document.querySelectorAll<HTMLElement>('[data-fragment]')) near.observe(place);
});
