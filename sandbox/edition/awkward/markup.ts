/**
 * Posts with every kind of body markup that the editor can produce: tables, quotations, galleries, footnotes, code.
 *
 * Where a body needs a picture of the edition's own, it says `{{art:motif}}` in place of an address; the importer puts the
 * address of an uploaded picture with that motif there.
 */
import type { AwkwardPost } from '../model.ts';
import { article, body, heading, html, paragraphs } from './build.ts';

const MONTHS = ['Jan.', 'Feb.', 'March', 'April', 'May', 'June', 'July', 'Aug.', 'Sept.', 'Oct.', 'Nov.', 'Dec.'];
/** Mean high and low tide in feet at five piers, month by month; made up, but each row rises and falls as tides do. */
const PIERS: readonly (readonly [string, number])[] = [
  ['Sandy Point', 4.6], ['Cold Harbor Dock', 5.1], ['North Light', 6.9], ['Mill Basin', 5.4], ['The Narrows', 4.2],
];

const wideTable = (): string => {
  const head = `<tr><th scope="col">Pier</th>${MONTHS.map((month) => `<th scope="col">${month}</th>`).join('')}<th scope="col">Year</th></tr>`;
  const rows = PIERS.map(([pier, mean]) => {
    const cells = MONTHS.map((_, month) => `<td>${(mean + Math.sin((month / 12) * 2 * Math.PI) * 0.4).toFixed(1)}</td>`);
    return `<tr><th scope="row">${pier}</th>${cells.join('')}<td><strong>${mean.toFixed(1)}</strong></td></tr>`;
  });
  return `<!-- wp:table -->\n<figure class="wp-block-table"><table><thead>${head}</thead><tbody>${rows.join('')}</tbody></table><figcaption class="wp-element-caption">Mean range of the tide, in feet. <em>Source: the harbor masters’ daybooks.</em></figcaption></figure>\n<!-- /wp:table -->`;
};

const MERGED_TABLE = `<table border="1" cellpadding="4" width="900">
<caption>Ferry fares, and who pays them</caption>
<colgroup><col span="1"><col span="2"><col></colgroup>
<thead>
<tr><th rowspan="2" scope="col">Passenger</th><th colspan="2" scope="colgroup">Fare</th><th rowspan="2" scope="col">Remark</th></tr>
<tr><th scope="col">Weekday</th><th scope="col">Sunday</th></tr>
</thead>
<tbody>
<tr><th scope="row">Adult</th><td>$4.00</td><td>$5.50</td><td rowspan="3">Exact change is “appreciated”</td></tr>
<tr><th scope="row">Child</th><td colspan="2">$1.00</td></tr>
<tr><th scope="row">Dog</th><td colspan="2">Free, if carried</td></tr>
<tr><th scope="row">Islander</th><td colspan="3">By arrangement since 1911</td></tr>
</tbody>
<tfoot><tr><td colspan="4">Bicycles cross as luggage.</td></tr></tfoot>
</table>`;

const figure = (motif: string, alt: string, caption: string): string =>
  `<!-- wp:image {"sizeSlug":"large","linkDestination":"none"} -->\n<figure class="wp-block-image size-large"><img src="{{art:${motif}}}" alt="${alt}"/><figcaption class="wp-element-caption">${caption}</figcaption></figure>\n<!-- /wp:image -->`;

const GALLERY = `<!-- wp:gallery {"linkTo":"none","columns":3} -->
<figure class="wp-block-gallery has-nested-images columns-3 is-cropped">
${[
  figure('lighthouse', 'The lighthouse from the landward side.', 'The side that visitors see.'),
  figure('storm-sea', 'A breaking wave.', 'The side that the keepers saw, <em>twice a day</em>.'),
  figure('night-street', 'The keepers’ lane at night.', 'The lane, with the kitchen window lit. <a href="https://example.com/archive">More from the archive</a>.'),
  figure('letter', 'A folded letter.', 'The letter that came after.'),
].join('\n\n')}
<figcaption class="blocks-gallery-caption wp-element-caption">Four views of a light, taken over one winter.</figcaption></figure>
<!-- /wp:gallery -->`;

/** As the footnotes block renders it; the block itself keeps its texts in post meta. */
const note = (id: string, number: number): string =>
  `<sup data-fn="${id}" class="fn"><a href="#${id}" id="${id}-link">${number}</a></sup>`;
const NOTES: readonly (readonly [string, string])[] = [
  ['8f2b1c04-6d1e-4a57-9b0e-3f5f0f9d1a01', 'Ledger of the Light-House Establishment, vol. 4, f. 212. The clerk’s sum is wrong by three barrels.'],
  ['8f2b1c04-6d1e-4a57-9b0e-3f5f0f9d1a02', 'The word was <em>winterish</em>. Two transcribers have it as “wittish.”'],
  ['8f2b1c04-6d1e-4a57-9b0e-3f5f0f9d1a03', 'See <a href="https://example.com/keepers">the register of keepers</a>, and compare note 1.'],
];
const notesList = (): string =>
  `<ol class="wp-block-footnotes">${NOTES.map(([id, text], index) => `<li id="${id}">${text} <a href="#${id}-link" aria-label="Jump to footnote reference ${index + 1}">↩︎</a></li>`).join('')}</ol>`;

const LONG_WORD = 'Taumata'.concat('whakatangihangakoauauotamatea'.repeat(6));
const LONG_ADDRESS = `https://example.com/records/${'parcel-0042-lot-7-block-19-'.repeat(14)}map.pdf?${'layer=tide&'.repeat(20)}z=14`;

const CODE = `<!-- wp:code -->
<pre class="wp-block-code"><code>10 REM TIDE AT THE NARROWS, AFTER THE CARD IN THE HARBOR OFFICE
20 FOR H = 0 TO 23
30 LET T = 4.2 + 2.1 * COS(6.2832 * (H - 3.4) / 12.42)
40 IF T &lt; 2.5 &amp;&amp; H &gt; 5 THEN PRINT H; "  &lt;b&gt;AGROUND&lt;/b&gt;": REM a line that runs on for a good deal longer than any column of this newspaper is wide
50 NEXT H</code></pre>
<!-- /wp:code -->`;

export const markup: readonly AwkwardPost[] = [
  article({
    slug: 'tables-wide-and-merged', title: 'A Year of Tides, in One Table That Will Not Fit and Another That Will Not Sit Still', hours: 152.45,
    author: 'henrietta-cho', sections: ['economy'],
    excerpt: 'Thirteen columns of water levels and a schedule of fares, with the dog’s.',
    image: { motif: 'harbor', alt: 'A harbor with a tide gauge.' },
    contentHtml: body(
      paragraphs('The harbor masters of five piers have kept the same book since the age of sail. Here is what they wrote down, averaged.'),
      wideTable(),
      paragraphs('The ferry’s own schedule is older, and was drawn up by somebody who disliked repeating himself.'),
      html(MERGED_TABLE),
    ),
  }),
  article({
    slug: 'quotations-within-quotations', title: 'He Said That She Said That They Said: An Oral History', hours: 163.45,
    author: 'leopold-stein', sections: ['columnists', 'culture'],
    excerpt: 'Three generations recall one remark at a wedding, each of them quoting the last.',
    image: { motif: 'theater', alt: 'Three masks, one behind the other.' },
    contentHtml: body(
      paragraphs('It was at the wedding of a cousin in Altoona, and it was about the soup.'),
      '<!-- wp:quote -->\n<blockquote class="wp-block-quote"><!-- wp:paragraph --><p>My father always told it this way:</p><!-- /wp:paragraph --><!-- wp:quote --><blockquote class="wp-block-quote"><!-- wp:paragraph --><p>“Your grandmother turned around to me, in front of the priest, and she said:</p><!-- /wp:paragraph --><!-- wp:quote --><blockquote class="wp-block-quote"><!-- wp:paragraph --><p>‘Somebody has been at this with a potato.’</p><!-- /wp:paragraph --><cite>Grandmother, reported</cite></blockquote><!-- /wp:quote --><!-- wp:paragraph --><p>And she was right.”</p><!-- /wp:paragraph --><cite>Father, at every holiday</cite></blockquote><!-- /wp:quote --><cite>Mrs. Ida Kolchak, 91</cite></blockquote>\n<!-- /wp:quote -->',
      paragraphs('A pull quote, for those who have only come for the soup:'),
      '<!-- wp:pullquote -->\n<figure class="wp-block-pullquote"><blockquote><p>Somebody has been at this with a potato.</p><cite>Three witnesses</cite></blockquote></figure>\n<!-- /wp:pullquote -->',
      '<!-- wp:verse -->\n<pre class="wp-block-verse">O tuber in the consommé,\n      unasked, unpeeled, and there to stay.</pre>\n<!-- /wp:verse -->',
    ),
  }),
  article({
    slug: 'four-views-of-a-light', title: 'Four Views of a Light', hours: 171.45,
    author: 'beatrix-lindqvist', sections: ['culture'],
    excerpt: 'A keeper’s daughter photographed one lighthouse for one winter. We have room for four.',
    image: { motif: 'lighthouse', alt: 'A lighthouse at evening.' },
    contentHtml: body(
      paragraphs('She was eleven, and it was her uncle’s camera. She had film for a dozen exposures and took ten of them of the same thing.'),
      GALLERY,
      paragraphs('There is one more, larger, that she made last of all.'),
      '<!-- wp:image {"align":"wide","sizeSlug":"full"} -->\n<figure class="wp-block-image alignwide size-full"><a href="https://example.com/archive/10"><img src="{{art:ship}}" alt="A ship’s lights passing." class="wp-image-10"/></a><figcaption class="wp-element-caption">The tenth exposure.</figcaption></figure>\n<!-- /wp:image -->',
      '<!-- wp:media-text {"mediaPosition":"right"} -->\n<div class="wp-block-media-text has-media-on-the-right is-stacked-on-mobile"><div class="wp-block-media-text__content"><!-- wp:paragraph --><p>The camera itself, a box of tin and cardboard, is in the county museum.</p><!-- /wp:paragraph --></div><figure class="wp-block-media-text__media"><img src="{{art:gallery}}" alt="A museum case."/></figure></div>\n<!-- /wp:media-text -->',
    ),
  }),
  article({
    slug: 'a-keepers-log-with-notes', title: 'What the Keeper Wrote on the Night of the Gale, With Notes', hours: 186.45,
    author: 'leopold-stein', sections: ['national', 'culture'],
    excerpt: 'Eleven lines from a log that has been misread for a century, printed for once with their footnotes.',
    image: { motif: 'lighthouse', alt: 'A logbook beside a lamp.' },
    contentHtml: body(
      paragraphs(
        `“Oil, nineteen barrels,” the entry begins,${note(NOTES[0]?.[0] ?? '', 1)} “and the air very winterish.”${note(NOTES[1]?.[0] ?? '', 2)}`,
        `He had been at the light for six years, the third of his name to keep it,${note(NOTES[2]?.[0] ?? '', 3)} and he wrote without adjectives. When he uses two in one line it is time to look at the glass.`,
      ),
      html(notesList()),
    ),
  }),
  article({
    slug: 'the-longest-word-in-the-courthouse', title: `Clerk Defends ${LONG_WORD} as “One Word, Properly Filed”`, hours: 197.45,
    author: 'viktor-halloran', sections: ['justice'],
    excerpt: `The parcel’s name is ${LONG_WORD}, and its address is longer.`,
    image: { motif: 'courthouse', alt: 'A card index.', caption: LONG_WORD },
    contentHtml: paragraphs(
      `The deed gives the place as ${LONG_WORD}, without a space, and the clerk has indexed it so.`,
      `The map can be found at <a href="${LONG_ADDRESS}">${LONG_ADDRESS}</a>, if it can be found.`,
      `It is not to be confused with <code>${'0123456789abcdef'.repeat(16)}</code>, which is the seal.`,
    ),
  }),
  article({
    slug: 'a-program-for-the-tide', title: 'A Retired Harbor Master’s Program Still Predicts the Tide', hours: 208.45,
    author: 'cormac-bell', sections: ['national', 'education'],
    excerpt: 'It has five lines, it was written on the back of a tide card, and it has been aground only once.',
    image: { motif: 'satellite', alt: 'A tide gauge with an antenna.' },
    contentHtml: body(
      paragraphs('He’d learned it at a night class, to show a grandson. Type <kbd>RUN</kbd>, he says, and look at <samp>H</samp>; the variable <var>T</var> is feet, and <code>T &lt; 2.5</code> is mud.'),
      CODE,
      '<!-- wp:preformatted -->\n<pre class="wp-block-preformatted">HOUR   FEET   REMARK\n   3    6.3   high\n   9    2.1   AGROUND\n  15    6.3   high, and <strong>dinner</strong></pre>\n<!-- /wp:preformatted -->',
    ),
  }),
  article({
    slug: 'a-glossary-for-new-islanders', title: 'A Glossary for New Islanders, in Far Too Many Levels', hours: 219.45,
    author: 'edith-farquhar', sections: ['columnists'],
    excerpt: 'What is meant by “off,” “over” and “down street,” with six depths of heading and a list that goes deeper.',
    image: { motif: 'ship', alt: 'A small ferry.' },
    contentHtml: body(
      heading('Direction', 2), paragraphs('There are only three.'),
      heading('Off', 3), paragraphs('Anywhere that isn’t here.'),
      heading('Off, and staying', 4), paragraphs('College, or the Navy.'),
      heading('Off, and not coming back', 5), paragraphs('New Jersey.'),
      heading('Off, and not spoken of', 6), paragraphs('Cousin Ray.'),
      html('<h1>A heading that ought not to be of the first rank</h1>'),
      html('<dl><dt>Down street</dt><dd>Uphill, as a rule.</dd><dt>Washashore</dt><dt>Newcomer</dt><dd>One who has been here for under three generations.</dd><dd>Also: driftwood.</dd></dl>'),
      '<!-- wp:list -->\n<ul class="wp-block-list"><li>Boats<ol><li>Named<ul><li>For wives<ul><li>Living</li><li>Former</li></ul></li><li>For debts</li></ul></li><li value="7">Unnamed</li></ol></li><li>Dogs</li></ul>\n<!-- /wp:list -->',
      '<!-- wp:list {"ordered":true,"reversed":true,"start":3} -->\n<ol reversed start="3" class="wp-block-list"><li>Cast off.</li><li>Wave.</li><li>Go in to supper.</li></ol>\n<!-- /wp:list -->',
      '<!-- wp:details -->\n<details class="wp-block-details"><summary>What happened to Cousin Ray?</summary><!-- wp:paragraph --><p>We don’t speak of it.</p><!-- /wp:paragraph --></details>\n<!-- /wp:details -->',
    ),
  }),
];
