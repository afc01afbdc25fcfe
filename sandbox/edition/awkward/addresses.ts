/** Posts that share an address with another post, and posts that are in no section or in all of them. */
import type { AwkwardPost } from '../model.ts';
import { sections } from '../sections.ts';
import { article, paragraphs } from './build.ts';

export const addresses: readonly AwkwardPost[] = [
  article({
    slug: 'same-slug',
    title: 'Three Things in Town Have the Same Name, and This Is the Article',
    hours: 361.45,
    author: 'edith-farquhar',
    sections: ['columnists'],
    excerpt: 'There’s a diner, a street and a dog. You can imagine the mail.',
    image: { motif: 'letter', alt: 'Three letters, one name.' },
  }),
  {
    type: 'video',
    slug: 'same-slug',
    status: 'publish',
    title: 'Three Things in Town Have the Same Name, and This Is the Film',
    hours: 361.95,
    contentHtml: paragraphs('Koro the llama meets an electric fence. An open film made with Blender, free under a Creative Commons license.'),
    excerpt: 'The same name as an article and a crossword, and nothing else in common.',
    author: 'augustin-moreau',
    sections: ['culture'],
    image: { motif: 'desert', alt: 'A llama at a fence.', credit: 'Illustration: The Sun' },
    acf: { video_url: 'https://www.youtube.com/watch?v=Z4C82eyhwgU&list=PLav47HAVZMjnTIE&index=2' },
  },
  {
    type: 'crosswords',
    slug: 'same-slug',
    status: 'publish',
    title: 'Same Slug: A Crossword',
    hours: 362.45,
    contentHtml: '',
    author: 'edith-farquhar',
    sections: ['culture'],
    acf: { iframe: '<iframe src="https://crosswords.example.com/same-slug" width="100%" height="600" title="Same Slug"></iframe>' },
  },
  article({
    slug: 'about',
    title: 'About',
    hours: 373.45,
    author: 'leopold-stein',
    sections: ['columnists'],
    excerpt: 'An essay on a preposition. It lives at the same name as one of this newspaper’s own pages, and is about that, too.',
    image: { motif: 'typewriter', alt: 'A typewriter with one word on the page.' },
    contentHtml: paragraphs(
      'It’s the vaguest of words. “About six” is not six; “about the house” may be in any room of it; what a book is about is what’s left over when it has been read.',
      'My students used it to begin papers with. I let them. It’s an honest word. It says that we’re walking around a thing, and have not yet found the door.',
    ),
  }),
  article({
    slug: 'filed-under-nothing',
    title: 'A Story That Fits No Section of This Newspaper',
    hours: 384.45,
    author: 'nadia-osterman',
    sections: [],
    excerpt: 'A man in Utica has built a boat in his cellar that’s larger than the door. The desks have each declined it.',
    image: { motif: 'ship', alt: 'A boat in a cellar.' },
    contentHtml: paragraphs(
      'UTICA, N.Y. — National said that it was local. Culture asked if there was a performance. Economy wished to know what it had cost, and on being told, lost interest.',
      'The boat is 22 feet long. The door’s 31 inches wide. “I know,” says its builder, Casimir Wolk. “I know. I just wanted to build it.”',
    ),
  }),
  article({
    slug: 'filed-under-everything',
    title: 'A Story That Every Section of This Newspaper Claims',
    hours: 396.45,
    author: 'nadia-osterman',
    sections: sections.map(({ slug }) => slug),
    excerpt: 'A treaty about a school for opera singers has gone to court, at some expense, and everybody has an opinion.',
    image: { motif: 'parliament', alt: 'A chamber filled to the doors.' },
    contentHtml: paragraphs(
      'GENEVA — The delegates of two nations, the trustees of a conservatory, a bank and a columnist met on Thursday in the chambers of a judge. It went about as you would think.',
    ),
  }),
];
