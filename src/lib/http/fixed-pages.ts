/**
 * The pages whose address does not depend on published content: one row for each file `src/pages/<name>.astro`, and for each page of
 * `src/pages/[page].astro`. The page cache, `npm run press`, the table of methods, the sitemap, robots.txt and the tests that visit every
 * page read this list; a test compares it with the files.
 */
import { publication } from '../../publication.ts';

export interface FixedPage {
  /** The address has capital letters; other spellings are redirected to it. */
  readonly path: string;
  /** Never cached: it depends on the reader, or on posted data. */
  readonly uncached?: true;
  /** Its form posts to its own address. */
  readonly takesForm?: true;
  /** Only for signed-in users; others are redirected to sign in. */
  readonly signedIn?: true;
  /** robots.txt disallows it. */
  readonly closedToRobots?: true;
  /** Cached, but not useful in search results: the sitemap leaves it out. Pages that aren't cached are never in it. */
  readonly unlisted?: true;
}

const { parts, plans } = publication;

/** Pages of optional features, and whether this newspaper has the feature. */
const optional: Readonly<Record<string, boolean>> = {
  '/events': parts.events,
  '/founder': plans.sold.includes('founder'),
  '/games': parts.games,
  '/media': parts.watch,
  '/membership': plans.sold.includes('member'),
  '/print': plans.printWith !== null,
};

const allPages: readonly FixedPage[] = [
  { path: '/' },
  { path: '/about' },
  { path: '/accessibility' },
  { path: '/authors' },
  { path: '/cancel', uncached: true, takesForm: true, closedToRobots: true },
  { path: '/community' },
  { path: '/contact', uncached: true, takesForm: true },
  { path: '/corrections' },
  // Redirects to the first tab of the account.
  { path: '/dashboard', uncached: true, closedToRobots: true },
  { path: '/events' },
  { path: '/follow', unlisted: true },
  { path: '/founder' },
  { path: '/games' },
  { path: '/latest' },
  { path: '/media' },
  { path: '/membership' },
  { path: '/newsletter' },
  { path: '/newsletter-signUp', unlisted: true },
  { path: '/offer/newsletter', unlisted: true },
  { path: '/offline', unlisted: true },
  { path: '/oped-guidelines' },
  // The sitemap lists it together with the series, if there are any.
  { path: '/podcasts', unlisted: true },
  { path: '/pricing' },
  { path: '/print' },
  { path: '/privacy-choices', uncached: true },
  { path: '/privacy-policy' },
  { path: '/profile', uncached: true, signedIn: true, closedToRobots: true },
  { path: '/search', uncached: true, closedToRobots: true },
  { path: '/shipping', uncached: true, takesForm: true, signedIn: true, closedToRobots: true },
  { path: '/socialLogin', uncached: true, closedToRobots: true },
  { path: '/subscribe', uncached: true, closedToRobots: true },
  { path: '/thankyou', unlisted: true },
];

export const fixedPages: readonly FixedPage[] = allPages.filter(({ path }) => optional[path] !== false);

/** Pages that the cache stores: the same for every reader. */
export const cachedPages: readonly FixedPage[] = fixedPages.filter(({ uncached }) => !uncached);

/** Fragments that `src/pages/fragments/[list].astro` renders. */
export const fragmentLists: readonly string[] = ['alert', 'latest', 'popular', 'paywall-offer'];

/** Paths of the pages with this property of {@link FixedPage}. */
export const pathsOf = (kind: Exclude<keyof FixedPage, 'path'>): readonly string[] =>
  fixedPages.filter((page) => page[kind]).map(({ path }) => path);
