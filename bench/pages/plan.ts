/** The pages that Lighthouse looks at, and what each of them must reach (docs/decisions/0022). */

/** Categories of Lighthouse that are bounded, as it names them. */
export const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
export type Category = (typeof categories)[number];

export interface PagePlan {
  readonly name: string;
  readonly path: string;
  /** Whether a reader who pays is signed in. */
  readonly signedIn: boolean;
  /** Pages that must not be in a search engine’s index are not blamed for being kept out of it. */
  readonly indexed: boolean;
  /** Least performance, of 100; every other category must reach 100. */
  readonly performance: number;
  /** Most that the content may move while it loads; Lighthouse calls 0.1 good. */
  readonly shift: number;
}

const page = (name: string, path: string, more: Partial<PagePlan> = {}): PagePlan => ({
  name,
  path,
  signedIn: false,
  indexed: true,
  performance: 95,
  shift: 0.01,
  ...more,
});

/** An article of the demo edition with a large picture and three pages of comments. */
const article = '/article/crack-closes-mississippi-bridge';

export const plan: readonly PagePlan[] = [
  page('home', '/', { performance: 98, shift: 0 }),
  page('section', '/section/politics'),
  page('article', article, { performance: 98, shift: 0 }),
  page('media', '/media'),
  page('search', '/search?q=harbor', { indexed: false }),
  page('pricing', '/pricing'),
  page('dashboard', '/dashboard/account', { signedIn: true, indexed: false }),
];
