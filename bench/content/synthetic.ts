/**
 * Synthetic articles: the same for the same number, of varied length, with words as unevenly common as in real text, so that
 * a search for a common word has much to rank and a search for a rare one has not.
 */
import { randomNumbers } from '../../sandbox/random.ts';

/** Ids begin here; the newest article has the highest. */
export const firstId = 1000;
export const authorCount = 200;
export const sectionSlugs = [
  'editorials',
  'national',
  'foreign',
  'politics',
  'culture',
  'economy',
  'education',
  'justice',
  'columnists',
  'opinion',
];

const syllables = [
  'ba',
  'co',
  'der',
  'fin',
  'gra',
  'hol',
  'in',
  'ka',
  'lor',
  'mi',
  'nes',
  'or',
  'pel',
  'qui',
  'ran',
  'sol',
  'tar',
  'um',
  'ver',
  'wis',
];

/** The vocabulary's word of a rank; rank 0 is the most common. */
export function word(rank: number): string {
  let text = '';
  for (let rest = rank + 1; rest > 0; rest = Math.floor(rest / syllables.length))
    text += syllables[rest % syllables.length];
  return text;
}

const vocabulary = Array.from({ length: 20_000 }, (_, rank) => word(rank));

/** Ranks fall off as in natural text (Zipf), cheaply. */
const pick = (next: () => number): string => vocabulary[Math.floor(20_000 ** next()) - 1] ?? 'ba';

function sentence(next: () => number): string {
  const length = 8 + Math.floor(next() * 14);
  const words = Array.from({ length }, () => pick(next));
  const text = words.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function body(next: () => number): string {
  const paragraphs = 5 + Math.floor(next() * 14);
  const parts: string[] = [];
  for (let index = 0; index < paragraphs; index++) {
    const sentences = Array.from({ length: 2 + Math.floor(next() * 3) }, () => sentence(next)).join(' ');
    const link = index % 4 === 2 ? ' <a href="https://www.example.com/source">A source</a> was <em>named</em>.' : '';
    parts.push(`<p>${sentences}${link}</p>`);
    if (index === 5) parts.push(`<h2 class="wp-block-heading">${sentence(next)}</h2>`);
  }
  return parts.join('\n\n');
}

const pad = (instant: number): string => new Date(instant).toISOString().slice(0, 19);
/** Publication of the article with index 0, the oldest; they follow ten minutes apart. */
const oldest = Date.UTC(2024, 0, 1);

/** An article as WordPress would send it. */
export function article(index: number, base: string): Record<string, unknown> {
  const next = randomNumbers(index + 1);
  const id = firstId + index;
  const date = pad(oldest + index * 600_000);
  const author = 1 + Math.floor(next() * authorCount);
  const sections = [1 + Math.floor(next() * 10)];
  if (next() < 0.3) sections.push(1 + Math.floor(next() * 10));
  const title = Array.from({ length: 6 + Math.floor(next() * 6) }, () => pick(next)).join(' ');
  return {
    id,
    date_gmt: date,
    modified_gmt: date,
    slug: `story-${id}`,
    status: 'publish',
    link: `${base}/articles/story-${id}/`,
    title: { rendered: title.charAt(0).toUpperCase() + title.slice(1) },
    excerpt: { rendered: `<p>${sentence(next)} ${sentence(next)}</p>`, protected: false },
    content: { rendered: body(next), protected: false },
    acf: {
      author: {
        id: author,
        name: `Author ${word(author + 500)}`,
        slug: `author-${author}`,
        excerpt: 'Covers the city.',
        image: null,
      },
    },
    image: {
      id: 1,
      url: `${base}/wp-content/uploads/picture-${id % 500}.jpg`,
      alt: 'A picture',
      width: 1600,
      height: 900,
      caption: '',
      credit: '',
    },
    category: [...new Set(sections)].map((section) => ({ id: section, slug: sectionSlugs[section - 1] })),
    access: index % 5 === 0 ? 'subscriber' : 'default',
    restricted: false,
    comment_status: 'open',
  };
}
