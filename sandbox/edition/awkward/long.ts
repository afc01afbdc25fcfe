/**
 * One article of more than twenty thousand words: the minutes of a harbor board, read into the record at its centenary. A
 * generator puts it together from lists with a fixed seed, so that it is the same at every import.
 */
import { randomNumbers } from '../../random.ts';
import type { AwkwardPost } from '../model.ts';
import { article, body, heading, paragraphs } from './build.ts';

/** The article is at least this long. */
export const LONG_ARTICLE_WORDS = 20_000;

const MEMBERS = ['Mr. Ames', 'Mrs. Pell', 'Capt. Doane', 'Mr. Tuttle', 'Miss Hallett', 'Mr. Szabo', 'Mrs. Freitas'] as const;
const BOATS = ['Patience', 'Second Mortgage', 'Laura B.', 'Ask My Wife', 'Halcyon', 'Old Testament', 'Three Sisters', 'Dividend', 'Petrel', 'Not Yet'] as const;
const PEOPLE = ['Mr. Lyle Cobb', 'Mrs. Ottilie Brandt', 'a Mr. Quimby of the Neck road', 'the Widow Sears', 'Mr. Joaquim Souza', 'Dr. Fitch', 'the Rev. Mr. Lunt', 'a boy named Asa', 'Miss Verity Crane', 'Mr. Hobart, senior'] as const;
const PLACES = ['the town pier', 'Gull Ledge', 'the upper basin', 'the coal wharf', 'Sears’s float', 'the north channel', 'the ferry slip', 'the ice-house landing', 'the Narrows', 'the public steps'] as const;
const THINGS = ['a length of chain', 'forty feet of hawser', 'a brass lantern', 'two oars, not a pair', 'a piano stool', 'one sea boot, left', 'a barrel marked FLOUR', 'a cage without a bird', 'an anchor of the old pattern', 'a hymnal, wet'] as const;
const WINDS = ['northeast and rising', 'light from the south', 'west, and cold for the month', 'all around the compass', 'southeast, with rain', 'nothing to speak of'] as const;

/** What the templates of one meeting draw on. */
interface Draw {
  readonly one: (list: readonly string[]) => string;
  readonly number: (from: number, to: number) => number;
  /** What one item of business is about; the same from its title to its last sentence. */
  readonly boat: string;
  readonly place: string;
  readonly person: string;
}

/** The kinds of business, each a title and sentences from which a meeting takes some, in their order. */
const BUSINESS: readonly { readonly title: (draw: Draw) => string; readonly sentences: readonly ((draw: Draw) => string)[] }[] = [
  {
    title: ({ place }) => `Dredging at ${place}`,
    sentences: [
      ({ one, number, place }) => `${one(MEMBERS)} reported ${number(3, 11)} feet at mean low water off ${place}, where the chart has ${number(12, 18)}.`,
      ({ one }) => `${one(MEMBERS)} asked who had made the chart, and was told that it was a relation.`,
      ({ number }) => `An estimate was read from the dredging company, in the sum of $${number(2, 9)},${number(100, 999)}, exclusive of “stones of a size to be remarked upon.”`,
      ({ one }) => `${one(MEMBERS)} observed that the last three dredgings had been put down within sight of where they were taken up, and had come home by the next spring tide.`,
      ({ one, place }) => `The harbor master was directed to sound from ${place} out as far as ${one(PLACES.filter((other) => other !== place))} with a pole, and not, as before, with a boy.`,
      ({ one }) => `It was the sense of the board that mud is a public charge. ${one(MEMBERS)} asked that the sense of the board be written down somewhere, and shown to the mud.`,
    ],
  },
  {
    title: ({ boat }) => `Complaint concerning the vessel ${boat}`,
    sentences: [
      ({ boat, person, place }) => `A letter was read from ${person}, to the effect that the ${boat} had been made fast at ${place} since the autumn, that she leaked, and that her owner sang.`,
      ({ boat }) => `The owner, being present, said that the ${boat} leaked no worse than the Methodist church.`,
      ({ one, number }) => `${one(MEMBERS)} inquired about mooring fees. It was found that $${number(4, 88)} was owing, and had been since the term of the previous clerk, who was drowned.`,
      ({ one, person }) => `${one(PEOPLE.filter((other) => other !== person))} spoke in favor of the singing.`,
      ({ one }) => `The chair ruled that the ordinance as to nuisance covers smoke, offal and dogs, and that music would need a by-law. ${one(MEMBERS)} offered to draft one, and was asked not to.`,
      ({ number }) => `The owner was given ${number(7, 60)} days to caulk her, sell her or learn another song.`,
    ],
  },
  {
    title: () => 'Report of the pilots',
    sentences: [
      ({ number }) => `The senior pilot reported ${number(11, 74)} vessels brought in and ${number(11, 74)} taken out, and remarked that the difference was wintering.`,
      ({ one, boat, place }) => `The bark ${boat} had touched at ${place} in a wind that was ${one(WINDS)}, and had come off on the next tide with no harm but to the conversation.`,
      ({ one }) => `${one(MEMBERS)} wished to know whether the pilot had been aboard at the time. The pilot said that it depended on what was meant by aboard.`,
      ({ number }) => `The rate was fixed at $${number(2, 5)}.${number(10, 95)} for each foot of draft, with a third more on Sundays and for captains who will not be told.`,
      ({ one }) => `A new yawl was asked for. ${one(MEMBERS)} had seen the old one, and seconded the request before it was finished.`,
    ],
  },
  {
    title: ({ place }) => `Lease of ground near ${place}`,
    sentences: [
      ({ number, person, place }) => `${person} petitioned for ${number(10, 90)} feet of frontage at ${place}, for the purpose of smoking herring.`,
      ({ one, person }) => `${one(PEOPLE.filter((other) => other !== person))}, with laundry hung to leeward, appeared in opposition with a sheet, which was passed from hand to hand.`,
      ({ one, number }) => `${one(MEMBERS)} moved to grant it for ${number(2, 20)} years at $${number(5, 60)} a year and a barrel of the product at Christmas; the barrel was struck out on advice of counsel, and restored upon a show of hands.`,
      ({ one }) => `It was noted that the same ground had been leased in the time of the old board to ${one(PEOPLE)}, who had never been seen on it, and who, as it was now discovered, had never been seen.`,
      () => 'The clerk was told to find the deed. The clerk replied that he had been looking for it since he was married.',
    ],
  },
  {
    title: () => 'Articles found',
    sentences: [
      ({ one }) => `The harbor master laid upon the table ${one(THINGS)}, taken up at ${one(PLACES)}, and ${one(THINGS)}, found in the bell tower, for which he could offer no explanation that did him credit.`,
      ({ one, person }) => `${person} laid claim to ${one(THINGS)}, described it correctly, and was asked to describe how it had got there.`,
      ({ one, number }) => `The remainder was ordered sold at ${one(PLACES)} on a Saturday. The last sale brought $${number(3, 40)}.${number(10, 95)}, of which a part was in buttons.`,
      ({ one }) => `${one(MEMBERS)} asked whether the board might not keep ${one(THINGS)} for its own use. There being no rule against it, one was made.`,
    ],
  },
  {
    title: () => 'The light, the bell and the fog',
    sentences: [
      ({ number }) => `The keeper reported ${number(9, 130)} hours of fog, and that the bell was rung in all but ${number(2, 8)} of them, when there was pie.`,
      ({ person }) => `${person} complained of the bell. Capt. Doane, who had once come in upon it with his hand in front of his face, got up and left the room, and was some time in coming back.`,
      ({ one }) => `Oil was found to be low. ${one(MEMBERS)} suspected the keeper’s cousin; the keeper’s cousin, who was taking the minutes, suspects ${one(MEMBERS)}.`,
      ({ one }) => `The lens was inspected by ${one(MEMBERS)}, and pronounced the only thing belonging to the town that was as clean on the back.`,
      () => 'Voted, that the light be lit at sunset, and that sunset be taken from the almanac, and not from the keeper.',
    ],
  },
  {
    title: () => 'Remarks by the public',
    sentences: [
      ({ person, place }) => `${person} rose to say that in the old days one could walk across from ${place} upon the decks. Asked whether the board was expected to do something about it, the speaker sat down.`,
      ({ one }) => `A letter wished to thank whoever had mended the rail at ${one(PLACES)}. Each of the members looked at the others, and nobody spoke up.`,
      ({ one, person }) => `${one(PEOPLE.filter((other) => other !== person))} inquired for the third meeting in a row about the steps. The chair said that the steps were under consideration. A voice said that they were under water.`,
      ({ one }) => `A motion from the floor to paint ${one(PLACES)} some cheerful color was ruled out of order, and was then carried out, by persons unknown, on the Thursday.`,
      ({ number }) => `There were ${number(4, 63)} of the public in attendance, and a dog.`,
    ],
  },
  {
    title: () => 'Accounts',
    sentences: [
      ({ number }) => `The treasurer reported $${number(1, 9)},${number(100, 999)}.${number(10, 95)} in hand, against bills for $${number(1, 9)},${number(100, 999)}.${number(10, 95)}, and was thanked for his candor.`,
      ({ one, number }) => `${one(MEMBERS)} asked about an entry of $${number(2, 30)} for “sundries.” The treasurer said that if it could have been called anything else then he would have called it so.`,
      ({ one }) => `The bill of ${one(PEOPLE)} for the hire of a horse was allowed in part, the horse having been returned in part rested.`,
      ({ one }) => `${one(MEMBERS)} moved that the books be audited. ${one(MEMBERS)} asked by whom. There was a silence, in which the wind was heard to be ${one(WINDS)}.`,
    ],
  },
];

/** How a meeting may dispose of its business; votes add up to the seven members. */
const OUTCOMES: readonly ((draw: Draw) => string)[] = [
  ({ one }) => `Carried, 7 to 0, ${one(MEMBERS)} remarking that it would not happen again.`,
  ({ one }) => `Carried, 4 to 3. ${one(MEMBERS)} asked to have it noted that the three were right.`,
  ({ one }) => `Lost, 2 to 5, upon which ${one(MEMBERS)} gave notice that it would be brought up at the next meeting, and at the one after that.`,
  () => 'Laid upon the table, where it joined the others.',
  ({ one }) => `Referred to ${one(MEMBERS)}, with power to act, and with a strong request that it not be used.`,
  () => 'Carried, 5 to 1, with Miss Hallett not voting, since she had the floor and did not mean to give it up.',
];

/** Words of an HTML text as a reader would count them. */
export const countWords = (html: string): number =>
  html
    .replace(/<[^>]*>/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

function minutes(): string {
  const next = randomNumbers(1833);
  const number = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  // The same name twice in a row looks like a mistake, so a list never repeats its last choice.
  const last = new Map<readonly string[], string>();
  const one = (list: readonly string[]) => {
    const others = list.filter((entry) => entry !== last.get(list));
    const chosen = others[Math.floor(next() * others.length)] ?? '';
    last.set(list, chosen);
    return chosen;
  };
    const parts: string[] = [];
  let words = 0;
  const add = (part: string) => {
    parts.push(part);
    words += countWords(part);
  };
  add(
    paragraphs(
      'For a hundred years the board of harbor commissioners of a small port, which has asked us not to say which one, met on the first Tuesday of the month in a room over the chandler’s. On its anniversary the clerk read aloud from the minutes. He began at noon. This newspaper, which had sent a reporter for the cake, prints what he got through.',
    ),
  );
  for (let meeting = 1; words < LONG_ARTICLE_WORDS + 200; meeting += 1) {
    add(heading(`Meeting the ${ordinal(meeting)}`));
    const absent = one(MEMBERS);
    const openings = [
      `All were present but ${absent}, who came in during the reading of the minutes, and disputed them.`,
      `All were present. ${absent} asked to have that written down, as it would not be believed.`,
      `${absent} sent regrets, and a fish.`,
      `There was some question of a quorum, until ${absent} was seen upon the stairs.`,
      `The minutes of the last meeting were read and approved, ${absent} abstaining from the second page.`,
    ];
    const opening = openings[number(0, openings.length - 1)] ?? '';
    add(
      paragraphs(
        `Called to order at ${number(6, 8)}:${number(10, 55)} in the evening, the wind ${one(WINDS)}. ${opening} The public benches held ${number(8, 40)}.`,
      ),
    );
    const first = number(0, BUSINESS.length - 1);
    const step = [1, 3, 5][number(0, 2)] ?? 1;
    for (let item = 0; item < 4; item += 1) {
      const business = BUSINESS[(first + item * step) % BUSINESS.length];
      if (!business) continue;
      const draw: Draw = { one, number, boat: one(BOATS), place: one(PLACES), person: one(PEOPLE) };
      add(heading(`${item + 1}. ${business.title(draw)}`, 3));
      // The first sentence says what the item is about and is always used; one of the others may be left out.
      const skipped = number(1, business.sentences.length);
      const told = business.sentences.filter((_, index) => index !== skipped).map((sentence) => capitalized(sentence(draw)));
      add(paragraphs(told.join(' '), (OUTCOMES[number(0, OUTCOMES.length - 1)] ?? (() => ''))(draw)));
    }
    add(paragraphs(`Adjourned at ${number(9, 11)}:${number(10, 55)}, ${one(MEMBERS)} putting out the lamp.`));
  }
  add(paragraphs('Here the clerk was helped to a chair. There are, he says, another eleven volumes.'));
  return body(...parts);
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** 1 → "1st", 11 → "11th". */
function ordinal(number: number): string {
  const ending = number % 100 >= 11 && number % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${number}${ending}`;
}

export const long: readonly AwkwardPost[] = [
  article({
    slug: 'minutes-of-the-harbor-board',
    title: 'The Minutes of the Harbor Board, Read Into the Record in Full',
    hours: 338.45,
    author: 'cormac-bell',
    sections: ['national', 'politics'],
    excerpt: 'A century of mud, herring, fog and points of order, as the clerk read it out one afternoon and well into the night. Twenty thousand words; bring a sandwich.',
    image: { motif: 'harbor', alt: 'An old harbor with a crowd of masts.', caption: 'The room over the chandler’s has the second window from the left.', credit: 'Illustration: The Sun' },
    contentHtml: minutes(),
  }),
];
