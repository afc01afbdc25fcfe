/** What a reader may choose to get by mail: the newsletters, and offers. Everything else is mailed because it has to be. */
import { newsletters } from './newsletters.ts';

/** Slug of a newsletter, or `offers`. */
export type Choice = string;

export const offers = 'offers';

/** Every choice there is, in the order in which they are shown. */
export const allChoices: readonly Choice[] = [...newsletters.map(({ slug }) => slug), offers];

/** Those of the given that there are, each once, in the order in which they are shown. */
export const knownChoices = (given: readonly string[]): readonly Choice[] =>
  allChoices.filter((choice) => given.includes(choice));

/** What a choice is called in a sentence. */
export const choiceName = (choice: Choice): string =>
  newsletters.find(({ slug }) => slug === choice)?.name ?? 'Offers and invitations';
