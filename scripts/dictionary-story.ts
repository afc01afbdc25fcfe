/**
 * The story of which the shared dictionary is made: not real news, and nothing of the edition. It uses words that most stories contain,
 * so that the dictionary helps with real stories.
 */
import type { DocumentFacts, IngestedDocument } from '../src/content/ingest/document.ts';

const paragraphs = [
  'WASHINGTON — The president said on Tuesday that he would not sign the bill, which the Senate had passed a week earlier by a vote of 52 to 48, and the governor of New York said that the state would go to court.',
  'The two sides have been at odds for more than a year. “There is nothing in this that we have not seen before,” said a spokesman for the White House, who asked not to be named because the talks are not public. “It’s what the people voted for.”',
  'The city, which has about 40,000 residents, had paid $1.2 million for the building, according to records, and another $300,000 was spent on it in the first year. It is one of three that the county has closed since last spring.',
  'In the nine months before the meeting there were 31 complaints; in the same months of the year before, there were only 12. Mr. Smith, who had been the director of the department for 19 years, told the council that he could not say when the work would be done, or what it would cost.',
  'At the end of the day they were still there. There were no chairs, so they sat on the floor, with their backs to the wall, as their parents had done when the mill was the largest in the country. “I don’t know that I’d do it again,” she said.',
  '“But I wouldn’t have missed it.” Her daughter, now 24, has left for college. Her husband, a retired teacher, died in November. Most of the others had come from the other side of the river, where the old school used to be, and where a new one is to open in the fall.',
  'Dr. Jones, a professor at the university and the author of a book on the history of the court, said that the decision was “the most important in a generation.” It takes effect on Monday.',
  'Under the law, an owner who has lived in the house for at least 10 years may stay; all others will have to apply to a judge, and to pay a fee of $75. Nearly half of them, 44 percent, are expected to do so, the report says, although the state’s own estimate is lower than that. A federal judge has ordered a hearing for January.',
  'None of this was in the letter, which ran to nine pages and which was read by the chairman of the committee on Wednesday morning. He did not respond to a request for comment.',
  'The company, whose shares rose 3 percent, said in a statement that it had acted “in good faith” and that it would work with the mayor, the police and the fire department. The rest, officials say, is up to voters: on the first Tuesday of next month they will be asked whether they want it at all.',
];

const prose = (from: number, to?: number): string =>
  paragraphs
    .slice(from, to)
    .map((text) => `<p class="wp-block-paragraph">${text}</p>`)
    .join('');
const heading = (text: string): string => `<h2 class="wp-block-heading">${text}</h2>`;

const opening = prose(0, 2);
const body = [
  prose(0, 4),
  heading('What It Would Cost'),
  prose(4, 6),
  '<blockquote class="wp-block-quote"><p>“It’s what the people voted for.”</p></blockquote>',
  prose(6, 8),
  heading('The First Year'),
  prose(8),
].join('');

type Part = Pick<IngestedDocument, 'id' | 'slug' | 'terms'> & Pick<DocumentFacts, 'access'>;

/** @param author id of the author; @param picture address of the picture */
export function placeholderStory({ id, slug, terms, access }: Part, author: number, picture: string): IngestedDocument {
  return {
    type: 'articles',
    id,
    slug,
    title: 'The City Council Votes on the Bill',
    excerpt: 'The vote, 52 to 48, is the first of its kind in the state. What it would cost, and who would pay for it.',
    image: {
      url: picture,
      alt: 'The front of the old building, with a crowd of people on the street.',
      width: 1600,
      height: 1067,
      caption: 'The building on Monday, a day after the vote.',
      credit: 'Illustration: The Sun',
    },
    authorId: author,
    author: null,
    terms,
    date: '2026-01-02T10:00:00Z',
    modified: '2026-01-02T10:00:00Z',
    facts: { access: access ?? 'default', words: 640, minutes: 3, commentsOpen: true, restricted: false },
    bodyHtml: body,
    openingHtml: opening,
    searchText: '',
    oldSlugs: [],
    topStories: null,
  };
}

/** @param id of the author */
export function placeholderAuthor(id: number): IngestedDocument {
  return {
    ...placeholderStory({ id, slug: 'jane-smith', terms: [], access: 'default' }, id, ''),
    type: 'authors',
    title: 'Jane Smith',
    excerpt: 'Jane Smith covers the city council and the courts.',
    image: null,
    authorId: null,
    facts: {},
    bodyHtml: '',
    openingHtml: '',
  };
}
