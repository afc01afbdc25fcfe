/** The newsletters of the paper. */
export interface Newsletter {
  readonly slug: string;
  readonly name: string;
  /** When it comes. */
  readonly rhythm: string;
  readonly description: string;
  /** Chosen before the reader chooses. */
  readonly first: boolean;
}

export const newsletters: readonly Newsletter[] = [
  {
    slug: 'morning',
    name: 'Morning Sun',
    rhythm: 'Before seven, Monday to Saturday',
    description: 'The news of the night, put in the order in which it matters.',
    first: true,
  },
  {
    slug: 'evening',
    name: 'Evening Sun',
    rhythm: 'At half past five, on weekdays',
    description: 'The best thing that we published that day, and the best that somebody else did.',
    first: false,
  },
];
