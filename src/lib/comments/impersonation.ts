/**
 * Names that look like those of the newspaper or its authors. Names are compared by their skeletons, as in Unicode's report on confusable
 * characters (UTS 39): without marks, case, spaces and invisible characters, and with look-alike characters replaced by one letter.
 */

/** Look-alikes of Latin letters in Cyrillic, Greek, Armenian and Cherokee, digits and signs. NFKD covers compatibility forms. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑᴀ@4',
    b: 'вβьʙ8',
    c: 'сϲᴄ',
    d: 'ԁᴅđ',
    e: 'еεєҽᴇ3',
    f: 'ϝғ',
    g: 'ɡԍɢ',
    h: 'нһհʜħ',
    n: 'ηпոɴи',
    i: 'іιıɪӏ1|!lłⅼʟ',
    j: 'јϳᴊ',
    k: 'кκᴋ',
    m: 'мμᴍ',
    o: 'оοσօᴏø0',
    p: 'рρᴘþ',
    q: 'ԛ',
    r: 'гʀ',
    s: 'ѕꜱꮪ$5',
    t: 'тτᴛŧ7',
    u: 'υսцᴜ',
    v: 'νѵᴠ',
    w: 'ԝωᴡш',
    x: 'хχ',
    y: 'уγүʏ',
    z: 'ᴢζ',
    ae: 'æ',
    oe: 'œ',
    ss: 'ß',
  }).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** What a name looks like; names with the same skeleton can be confused. */
function skeletonOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  const letters = [...plain].map((letter) => lookAlikes.get(letter) ?? letter).join('');
  // Pairs of letters that look like one.
  return letters
    .replace(/[^\p{L}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** Whether a name is, or looks like, a reserved one. @param reserved names of the newspaper and its authors */
export function impersonates(name: string, reserved: Iterable<string>): boolean {
  const seen = skeletonOf(name);
  const bare = bareOf(seen);
  for (const one of reserved) {
    const taken = skeletonOf(one);
    if (taken === '') continue;
    // A name such as "Sun" may be a user's own last name; together with official words it is refused.
    if (seen === taken || (bare !== seen && bare !== '' && bare === bareOf(taken))) return true;
  }
  return false;
}

/** Words that make a name look official. */
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
const endings = new RegExp(`(?:${officialWords.map(skeletonOf).join('|')})+$`, 'u');
const article = skeletonOf('the');

/** A skeleton without a leading article and trailing official words. */
function bareOf(skeleton: string): string {
  const bare = skeleton.startsWith(article) ? skeleton.slice(article.length) : skeleton;
  return bare.replace(endings, '');
}
