/**
 * Posts that must not be read by everyone: drafts, scheduled, private, with a password, for registered readers, for
 * subscribers. Their bodies carry a sentence that begins with CANARY, for which tests search everything that is public.
 */
import type { AwkwardPost } from '../model.ts';
import { article, paragraphs } from './build.ts';

const canary = (status: string) => `CANARY-${status}-must-not-leak.`;

/** Four paragraphs that anyone may read, and then the guarded ones. */
const behindTheWall = (opening: readonly [string, string, string, string], mark: string) =>
  paragraphs(...opening, `${mark}. From here on the text is for those who may read it.`, 'And this is how it ends.');

export const guarded: readonly AwkwardPost[] = [
  article({
    slug: 'still-being-written', status: 'draft', title: 'Draft: The Mayor’s Boat, and Who Paid for the Varnish', hours: 3.55,
    author: 'tobias-renner', sections: ['politics'],
    excerpt: 'Not yet checked. Call the boatyard again before this goes anywhere.',
    contentHtml: paragraphs('TK dateline. The varnish came to $1,140, or it did not; see the second invoice.', canary('draft')),
  }),
  article({
    slug: 'embargoed-for-two-hours', status: 'future', title: 'Library Prize Goes to a Novel Written on the 7 Train', hours: -2,
    author: 'augustin-moreau', sections: ['culture'],
    excerpt: 'Held for the announcement. The winner does not know.',
    image: { motif: 'books', alt: 'A novel on a subway seat.' },
    contentHtml: paragraphs('The judges were unanimous, and one of them missed his stop.', canary('future')),
  }),
  article({
    slug: 'for-the-weekend-pages', status: 'future', title: 'A Weekend Among the People Who Repair Umbrellas', hours: -72,
    author: 'rosalind-thorne', sections: ['culture'],
    excerpt: 'To run on the weekend, whatever the weather.',
    image: { motif: 'night-street', alt: 'An umbrella under a street lamp.' },
    contentHtml: paragraphs('There are nine of them left, and they don’t agree about glue.', canary('future')),
  }),
  article({
    slug: 'for-the-desk-only', status: 'private', title: 'For the Desk: Names That We Keep Spelling Wrong', hours: 12.95,
    sections: ['editorials'],
    excerpt: 'A list for our own use. Two l’s in Halloran.',
    contentHtml: paragraphs('Abernathy has an e. Farquhar has a q and no k.', canary('private')),
  }),
  article({
    slug: 'for-the-jury-of-the-prize', status: 'publish', password: 'cherry-orchard', title: 'For the Jury: Six Finalists and What Was Said of Them', hours: 36.95,
    author: 'augustin-moreau', sections: ['culture'],
    excerpt: 'The judges have the password. Nobody else needs it.',
    contentHtml: paragraphs('Finalist 3 made two of us cry, and the third claims that it was the draft from the window.', canary('password')),
  }),
  article({
    slug: 'what-subscribers-know-about-salt', title: 'What the Salt Trade Knows About Next Winter', hours: 16.95,
    author: 'henrietta-cho', sections: ['economy'],
    excerpt: 'The men who sell salt to road departments have been right about seven winters in nine. A look at their method.',
    image: { motif: 'market', alt: 'A hill of salt under a tarpaulin.' },
    acf: { access: 'subscriber' },
    contentHtml: behindTheWall(
      [
        'CLEVELAND — Eighteen hundred feet beneath Lake Erie, in a room the size of a cathedral, a man called Dutch Vandermeer looked at a telephone and decided that it would snow.',
        'He isn’t a meteorologist. He takes orders for rock salt, and has done so for 31 years. In nine of the past winters that can be checked he has set the mine’s output by July, and in seven of them he was closer than the government’s own outlook.',
        'The mine’s owners have never asked how he does it. His competitors have, and one of them offered him a boat.',
        'What he does, it turns out, is listen to who calls first.',
      ],
      'CANARY-subscriber-body',
    ),
  }),
  article({
    slug: 'what-registered-readers-know-about-chalk', title: 'The Last Blackboards in Baltimore, and Why Mathematicians Hoard the Chalk', hours: 29.95,
    author: 'june-abernathy', sections: ['education'],
    excerpt: 'A school system is taking out its slate. Some of those who are buying it prove theorems.',
    image: { motif: 'school', alt: 'A blackboard, half erased.' },
    acf: { access: 'registered' },
    contentHtml: behindTheWall(
      [
        'BALTIMORE — They come out whole, if you’re lucky: eight feet by four, an inch thick and black as a pond.',
        'The city’s schools are selling 2,200 of them, quarried in Pennsylvania a century ago, at $60 apiece. On the first morning there was a line, and at the head of it a professor of topology with a rented van.',
        '“You can’t think on a whiteboard,” said the professor, Ludmila Oster. “It’s too easy to wipe. You never have to look at what you did.”',
        'She’d brought her own chalk, to try them. She wouldn’t say where she gets it.',
      ],
      'CANARY-registered-body',
    ),
  }),
  article({
    slug: 'a-subscribers-story-in-one-paragraph', title: 'One Long Paragraph for Subscribers', hours: 349.45,
    author: 'dashiell-okafor', sections: ['economy'],
    excerpt: '',
    image: null,
    acf: { access: 'subscriber' },
    contentHtml: `<p>${'The column had no paragraphs, since its author did not believe in them. '.repeat(24)}Then it stops.</p>`,
  }),
];
