/**
 * Names that look like those of the paper or its authors. Two names are compared by their skeletons, after Unicode's report on
 * confusable characters (UTS 39): marks, case, spaces and what can't be seen are left out, and look-alikes become one letter.
 */

/** Look-alikes of Latin letters in Cyrillic, Greek, Armenian and Cherokee, digits and signs; compatibility forms fall to NFKD. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: 'a',
  α: 'a',
  ɑ: 'a',
  ᴀ: 'a',
  '@': 'a',
  '4': 'a',
  в: 'b',
  β: 'b',
  ь: 'b',
  ʙ: 'b',
  '8': 'b',
  с: 'c',
  ϲ: 'c',
  ᴄ: 'c',
  ԁ: 'd',
  ᴅ: 'd',
  đ: 'd',
  е: 'e',
  ε: 'e',
  є: 'e',
  ҽ: 'e',
  ᴇ: 'e',
  '3': 'e',
  ϝ: 'f',
  ғ: 'f',
  ɡ: 'g',
  ԍ: 'g',
  ɢ: 'g',
  н: 'h',
  һ: 'h',
  հ: 'h',
  ʜ: 'h',
  η: 'n',
  ħ: 'h',
  і: 'i',
  ι: 'i',
  ı: 'i',
  ɪ: 'i',
  ӏ: 'i',
  '1': 'i',
  '|': 'i',
  '!': 'i',
  l: 'i',
  ł: 'i',
  ⅼ: 'i',
  ј: 'j',
  ϳ: 'j',
  ᴊ: 'j',
  к: 'k',
  κ: 'k',
  ᴋ: 'k',
  ʟ: 'i',
  м: 'm',
  μ: 'm',
  ᴍ: 'm',
  п: 'n',
  ո: 'n',
  ɴ: 'n',
  и: 'n',
  о: 'o',
  ο: 'o',
  σ: 'o',
  օ: 'o',
  ᴏ: 'o',
  ø: 'o',
  '0': 'o',
  р: 'p',
  ρ: 'p',
  ᴘ: 'p',
  ԛ: 'q',
  г: 'r',
  ʀ: 'r',
  ѕ: 's',
  ꜱ: 's',
  ꮪ: 's',
  $: 's',
  '5': 's',
  т: 't',
  τ: 't',
  ᴛ: 't',
  ŧ: 't',
  '7': 't',
  υ: 'u',
  ս: 'u',
  ц: 'u',
  ᴜ: 'u',
  ν: 'v',
  ѵ: 'v',
  ᴠ: 'v',
  ԝ: 'w',
  ω: 'w',
  ᴡ: 'w',
  ш: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ү: 'y',
  ʏ: 'y',
  ᴢ: 'z',
  ζ: 'z',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'p',
};

/** What a name looks like; names with one skeleton can be taken for each other. */
export function skeletonOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  const letters = [...plain].map((letter) => lookAlikes[letter] ?? letter).join('');
  // Two letters that look like one.
  return letters
    .replace(/[^\p{L}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/**
 * Whether a name is, or looks like, one of those that are reserved.
 *
 * @param reserved names of the paper and its authors
 */
export function impersonates(name: string, reserved: Iterable<string>): boolean {
  const seen = skeletonOf(name);
  const bare = bareOf(seen);
  for (const one of reserved) {
    const taken = skeletonOf(one);
    if (taken === '') continue;
    // A last name alone, such as "Sun", may be a reader's own: with words around it, it is not.
    if (seen === taken || (bare !== seen && bare !== '' && bare === bareOf(taken))) return true;
  }
  return false;
}

/** Words that are added to a name so that it looks official. */
const officialWords = [
  'staff',
  'team',
  'editor',
  'editors',
  'newsroom',
  'official',
  'admin',
  'moderator',
  'moderators',
  'news',
];
const endings = officialWords.map(skeletonOf).sort((a, b) => b.length - a.length);
const article = skeletonOf('the');

/** A skeleton without an article before it and official words after it. */
function bareOf(skeleton: string): string {
  let bare = skeleton.startsWith(article) ? skeleton.slice(article.length) : skeleton;
  for (
    let ending = endings.find((word) => bare.endsWith(word));
    ending;
    ending = endings.find((word) => bare.endsWith(word))
  ) {
    bare = bare.slice(0, -ending.length);
  }
  return bare;
}
