/**
 * Hostile markup in every field of every type. Each family of payloads has its own article, so that a failing test names the
 * family; the payloads for fields other than bodies are below.
 */
import type { AwkwardPost } from '../model.ts';
import { article, body, html, paragraphs } from './build.ts';
import { payloads } from './payloads.ts';

const BREAKOUT = `"></title></script></style></textarea>--><img src=x onerror=window.__xss=1><svg/onload=window.__xss=1>`;
const ATTRIBUTE = `" onerror="window.__xss=1" onload='window.__xss=1' autofocus onfocus=window.__xss=1 x="`;

/** What a newspaper would call each family, and the sections in which it is filed. */
const FAMILIES: Readonly<Record<string, readonly [title: string, sections: readonly string[]]>> = {
  scripts: ['A Screenwriter Leaves Scripts All Over Town', ['culture']],
  handlers: ['Handlers at the Dog Show Bark on Every Occasion', ['national']],
  'foreign-elements': ['Foreign Elements Are Seen in a Math Class', ['education', 'foreign']],
  parsing: ['A Sentence That Can Be Parsed in Two Ways Goes to Trial', ['justice']],
  addresses: ['A Speaker Gives Addresses That Lead Nowhere Good', ['politics']],
  styles: ['A Stylist Covers the Whole of a Front Page', ['economy']],
  names: ['A Man Who Took His Neighbors’ Names', ['columnists']],
  frames: ['The Art Dealer Who Sold Frames From Unknown Houses', ['culture', 'opinion']],
};

const families: readonly AwkwardPost[] = Object.entries(payloads).map(([name, list], index) => {
  const [title, sections] = FAMILIES[name] ?? [name, ['opinion']];
  return article({
    slug: `hostile-${name}`,
    title,
    hours: 420.45 + index * 7,
    author: 'viktor-halloran',
    sections,
    excerpt: 'Nothing on this page ought to do anything. A reader should see some odd words, and a newspaper around them.',
    image: { motif: 'protest', alt: 'A crowd outside a newspaper’s door.', credit: 'Illustration: The Sun' },
    contentHtml: body(
      paragraphs('This paragraph comes before them, and has to be read.'),
      ...list.map(html),
      paragraphs('This paragraph comes after them, and has to be read as well.'),
    ),
  });
});

const fields: readonly AwkwardPost[] = [
  article({
    slug: 'hostile-fields',
    title: `A Headline <script>window.__xss=1</script><img src=x onerror=window.__xss=1> With ${BREAKOUT} Baggage`,
    hours: 491.45,
    author: 'viktor-halloran',
    sections: ['justice'],
    excerpt: `A standfirst ${BREAKOUT} <a href="javascript:window.__xss=1">with a link</a> <style>body{display:none}</style>`,
    image: {
      motif: 'flag',
      alt: `An alternative ${ATTRIBUTE} ${BREAKOUT}`,
      caption: `A caption ${BREAKOUT} <a href="javascript:window.__xss=1">with a link</a>`,
      credit: `Illustration: ${BREAKOUT}`,
    },
  }),
  article({
    slug: 'hostile-inner-captions',
    title: 'Captions That Want to Be More Than Captions',
    hours: 496.45,
    author: 'beatrix-lindqvist',
    sections: ['culture'],
    excerpt: 'The pictures are harmless.',
    contentHtml: body(
      `<!-- wp:image -->\n<figure class="wp-block-image" onclick="window.__xss=1"><img src="{{art:gallery}}" alt="&quot; onload=&quot;window.__xss=1" onload="window.__xss=1"/><figcaption class="wp-element-caption" style="position:fixed;inset:0"><script>window.__xss=1</script>A caption<img src=x onerror=window.__xss=1></figcaption></figure>\n<!-- /wp:image -->`,
      `<!-- wp:paragraph {"onclick":"window.__xss=1","className":"x\\u0022 onmouseover=\\u0022window.__xss=1"} -->\n<p>Attributes of a block.</p>\n<!-- /wp:paragraph -->`,
    ),
  }),
  article({
    slug: 'hostile-structured-data',
    title: 'Breaking Out </script><script>window.__xss=1</script> of Structured Data ]]><x/>&#60;/script&#62;<!--<script>',
    hours: 501.45,
    author: 'viktor-halloran',
    sections: ['national'],
    excerpt: '</script><script>window.__xss=1</script>]]></description><item><title>Smuggled</title></item>\u2028</script >\\"};window.__xss=1;{"',
    image: { motif: 'satellite', alt: '</script><script>window.__xss=1</script>', caption: '\\u003c/script>\\"+(window.__xss=1)+"' },
  }),
  article({
    slug: 'hostile-template-words',
    title: '{{constructor.constructor("window.__xss=1")()}} ${window.__xss=1} <%= window.__xss=1 %>',
    hours: 506.45,
    author: 'dashiell-okafor',
    sections: ['economy'],
    excerpt: '$& $1 $` %s %00 ../../../etc/passwd \\\'; DROP TABLE articles; -- javascript:window.__xss=1',
    image: { motif: 'typewriter', alt: '${window.__xss=1}' },
  }),
  {
    type: 'authors',
    slug: 'hostile-byline',
    status: 'publish',
    title: `Robert “Bobby” Tables <img src=x onerror=window.__xss=1>${BREAKOUT}`,
    hours: 900.45,
    contentHtml: html(`<p onclick="window.__xss=1">A biography.</p><script>window.__xss=1</script>`),
    excerpt: `Covers markup. ${BREAKOUT} <iframe srcdoc="<script>top.__xss=1</script>"></iframe>`,
    image: { motif: 'portrait', alt: `A portrait ${ATTRIBUTE}` },
  },
];

const video = (slug: string, hours: number, title: string, url: string): AwkwardPost => ({
  type: 'video',
  slug,
  status: 'publish',
  title,
  hours,
  contentHtml: html(`<p>About the film.</p>${BREAKOUT}<iframe src="javascript:top.__xss=1"></iframe>`),
  excerpt: 'The film may not play. Nothing else should, either.',
  author: 'augustin-moreau',
  sections: ['culture'],
  image: { motif: 'cinema', alt: 'An empty screen.', credit: 'Illustration: The Sun' },
  acf: { video_url: url },
});

const crossword = (slug: string, hours: number, title: string, iframe: string): AwkwardPost => ({
  type: 'crosswords',
  slug,
  status: 'publish',
  title,
  hours,
  contentHtml: '',
  author: 'edith-farquhar',
  acf: { iframe },
});

const media: readonly AwkwardPost[] = [
  video('hostile-video-script', 511.45, `A Film <script>window.__xss=1</script>${BREAKOUT}`, 'javascript:window.__xss=1//youtube.com/watch?v=aqz-KE-bpKQ'),
  video('hostile-video-id', 512.45, 'A Film With Too Much in Its Name', 'https://www.youtube.com/watch?v="><script>window.__xss=1</script>'),
  video('hostile-video-host', 513.45, 'A Film From a House Nobody Knows', 'https://www.youtube.com.collector.example.net/watch?v=aqz-KE-bpKQ'),
  video('hostile-video-data', 514.45, 'A Film in a Single Line', 'data:text/html,<script>top.__xss=1</script>'),
  video('video-without-an-address', 515.45, 'A Film That Has Been Mislaid', ''),
  crossword('hostile-crossword-srcdoc', 521.45, `Crossword <img src=x onerror=window.__xss=1>${BREAKOUT}`, `<iframe srcdoc="<script>top.__xss=1</script>" onload="window.__xss=1" src="https://collector.example.net/crossword"></iframe><script>window.__xss=1</script>`),
  crossword('hostile-crossword-script', 522.45, 'A Crossword That Answers Back', '<script src="https://collector.example.net/embed.js"></script><iframe src="javascript:top.__xss=1//https://www.youtube.com/embed/x"></iframe>'),
  crossword('hostile-crossword-data', 523.45, 'A Crossword All in One Square', '<iframe src="data:text/html,<script>top.__xss=1</script>"></iframe>'),
  crossword('crossword-without-a-frame', 524.45, 'A Crossword That the Printer Lost', ''),
];

const pages: readonly AwkwardPost[] = [
  {
    type: 'page',
    slug: 'hostile-page',
    status: 'publish',
    title: `House Rules <script>window.__xss=1</script>${BREAKOUT}`,
    hours: 910.45,
    contentHtml: body(paragraphs('A page of the paper, with guests.'), ...Object.values(payloads).flatMap((list) => list.slice(0, 4)).map(html)),
    excerpt: `Rules ${BREAKOUT}`,
    image: { motif: 'newspaper-press', alt: `A press ${ATTRIBUTE}`, caption: BREAKOUT },
  },
];

export const hostile: readonly AwkwardPost[] = [...families, ...fields, ...media, ...pages];
