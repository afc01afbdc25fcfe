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
    name: 'The Morning Sun',
    rhythm: 'Weekdays, 6 a.m.',
    description: 'The day’s news in the order in which it matters, before the first coffee.',
    first: true,
  },
  {
    slug: 'evening',
    name: 'Evening Edition',
    rhythm: 'Weekdays, 5 p.m.',
    description: 'What the day became, with one long read for the way home.',
    first: false,
  },
  {
    slug: 'arts',
    name: 'Arts+',
    rhythm: 'Thursdays',
    description: 'Books, music, stage and screen: what our critics would see again.',
    first: false,
  },
  {
    slug: 'opinion',
    name: 'The Argument',
    rhythm: 'Sundays',
    description: 'The editorials and columns of the week, and the best letter against them.',
    first: false,
  },
];
