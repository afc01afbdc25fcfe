/** Posts with unusual headlines, or without something that every other post has. */
import type { AwkwardPost } from '../model.ts';
import { article, paragraphs } from './build.ts';

/** Forty words, counted by its test. */
const FORTY_WORDS =
  'After Eleven Hours, Two Recesses, One Fainting Spell and a Motion to Adjourn That Failed by a Single Vote, the Sewer Commission of a Small Town in Western Maine Agrees That Next Time It Will Try to Meet Before Lunch';

export const headlines: readonly AwkwardPost[] = [
  article({
    slug: 'forty-word-headline',
    title: FORTY_WORDS,
    hours: 8.45,
    author: 'clara-whitcombe',
    sections: ['national', 'politics'],
    excerpt: 'The commissioners had come to discuss a pump. They stayed to discuss the meaning of the word “quorum,” and one another.',
    image: { motif: 'parliament', alt: 'A small council chamber with a clock at midnight.', caption: 'The clock in the chamber stopped at 10:52. Nobody was sure on which evening.', credit: 'Illustration: The Sun' },
    contentHtml: paragraphs(
      'RUMFORD FALLS, Maine — The pump was approved in the first nine minutes.',
      'It was the minutes themselves, of the meeting before, that took up the other ten hours and fifty-one. A commissioner, Merle Thibault, objected to the phrase “after some discussion,” on the ground that it had been after a great deal.',
      'By the second recess there were four versions. By the third hour of the evening session, the chairwoman, Agnes Pomerleau, had ruled that the commission could not correct the record of a meeting at which, as it now turned out, there had been no quorum; and that this ruling could not be recorded either.',
      'They broke up at a quarter to nine and went, all five of them, to the same diner. A waitress said that they were very quiet. “They each got the soup,” she said, “and then they passed the bill around for corrections.”',
    ),
  }),
  article({
    slug: 'no-picture-came-with-it',
    title: 'The Photographer Missed the Ferry, so You Will Have to Imagine the Whale',
    hours: 14.45,
    author: 'samir-delacroix',
    sections: ['culture', 'national'],
    image: null,
    excerpt: 'A reporter’s account, without illustration, of the largest visitor that Block Island has had this season.',
    contentHtml: paragraphs(
      'BLOCK ISLAND, R.I. — It was gray, and it was longer than the ferry. I can offer you nothing else in the way of a picture.',
      'It lay off the north light for most of an afternoon, turning over now and again like somebody who can’t get comfortable. Perhaps two hundred people stood along the bluff. After a time hardly any of them were holding up telephones; they had found out that it looked like a wet log.',
      '“You’d have to have been here,” said a woman beside me. We agreed that we had been.',
    ),
  }),
  article({
    slug: 'no-standfirst',
    title: 'Correction: It Was the Other Bridge',
    hours: 21.45,
    sections: ['editorials', 'national'],
    excerpt: '',
    image: { motif: 'bridge', alt: 'A bridge that looks very like another bridge.' },
    contentHtml: paragraphs(
      'On Tuesday we congratulated the engineers of the upper bridge upon its hundredth birthday. It was the lower bridge. The upper bridge is ninety-four, and in better repair than we said. We regret the error, and so, we are told, does the lower bridge.',
    ),
  }),
  article({
    slug: 'no-byline',
    title: 'A Note From the Composing Room, Which Does Not Sign Its Work',
    hours: 44.45,
    author: '',
    sections: ['opinion'],
    excerpt: 'Nobody has ever asked who sets the small type. We thought that we would mention it, and not say.',
    image: { motif: 'typewriter', alt: 'A typewriter with no one at it.' },
    contentHtml: paragraphs(
      'There are four of us. We come in when the others are putting on their coats. Everything that you have read in this paper has gone through our hands, most of it upside down and backward, and we’ve held our tongues about it.',
      'We would only say that there is no apostrophe in “its” when a thing is owned, that there never has been, and that we’ve taken out eleven thousand of them.',
    ),
  }),
  {
    type: 'articles',
    slug: 'nothing-but-a-headline',
    status: 'publish',
    title: 'Fog',
    hours: 66.45,
    contentHtml: '',
    sections: ['national'],
  },
  article({
    slug: 'ampersands-and-quotation-marks',
    title: 'Bell &amp; Sons v. Bell &#038; Daughters: “Who’s ‘&amp;’?” Asks Judge &lt;for the Record&gt;',
    hours: 73.45,
    author: 'viktor-halloran',
    sections: ['justice', 'economy'],
    excerpt: 'Two halves of a family firm dispute the ownership of an ampersand. “It’s ours,” say both &amp; each; R&amp;D is 5 &lt; 6 &gt; 4.',
    image: { motif: 'courthouse', alt: 'Bell & Sons’ shop-front, “established 1887,” with one letter <missing>', caption: 'The sign at Bell & Sons, where the “&” is < 1 foot tall.' },
    contentHtml: paragraphs(
      'LANCASTER, Pa. — The character in question, a gilded &amp; that is eleven inches high, was lettered in 1887. It isn’t mentioned in the will.',
      '“You can’t own an &lt;and&gt;,” said counsel for the daughters. The judge said that he’d been married for thirty years &amp; rather thought you could.',
    ),
  }),
  article({
    slug: 'markup-in-a-headline',
    title: 'Why <em>Middlemarch</em> Is Still the Best Novel About <strong>Local Government</strong>',
    hours: 82.45,
    author: 'augustin-moreau',
    sections: ['culture'],
    excerpt: 'A reader’s case for <em>Middlemarch</em> as a manual of committees, hospitals, &nbsp;and drains.',
    image: { motif: 'books', alt: 'A thick Victorian novel, lying open.' },
    contentHtml: paragraphs(
      'There’s a vote in the eighteenth chapter, on the appointment of a hospital chaplain, that ought to be read aloud to every member of a board. Nobody in it is a villain. Each has a reason, and each of the reasons is a bit beside the point; and by the end a man has voted against his friend so as not to seem afraid of voting for him.',
      'I know of nothing so exact on how it comes about that decent people pass what none of them had wanted.',
    ),
  }),
  article({
    slug: 'newsboy-emoji',
    title: '🗞️ Extra! 🦞 Lobsters 2, Trap 0 👩🏽‍🔬🏳️‍🌈 — Marine Lab Declares “¯\\_(ツ)_/¯”',
    hours: 93.45,
    author: 'cormac-bell',
    sections: ['national', 'education'],
    excerpt: '🦞 A redesigned trap has been outwitted twice. 🇺🇸 The crustaceans have declined to comment. 👨‍👩‍👧‍👦',
    image: { motif: 'laboratory', alt: 'A tank with two lobsters 🦞 outside it.' },
    contentHtml: paragraphs(
      'BOOTHBAY HARBOR, Maine — They went in by the door and came out by the door. 🦞',
      'The new trap, which took six years, has a gate that a lobster isn’t able to open from inside. On Monday the first of them leaned on it until the second, who was outside, grew curious.',
    ),
  }),
  article({
    slug: 'combining-accents',
    title: 'Zoë Nuñez and Bjo\u0308rn Tha\u0300nh Play Dvor\u030ca\u0301k at the Café Ångström, While Z\u0351\u036b\u0343a\u034a\u033al\u0321g\u0348o\u031b Looks On',
    hours: 104.45,
    author: 'samir-delacroix',
    sections: ['culture'],
    excerpt: 'Half of the accents in this item are letters, and half are marks laid over letters. The ear can’t tell, and neither should the eye: é, e\u0301.',
    image: { motif: 'orchestra', alt: 'Two violinists on a very small stage.' },
    contentHtml: paragraphs(
      'The program spelled the composer’s name in two ways, and both were right: Dvořák, and Dvor\u030ca\u0301k.',
      'The duo played with fire. The espresso machine came in on the off-beat, and was forgiven.',
    ),
  }),
  article({
    slug: 'only-digits',
    title: '1833',
    hours: 117.45,
    sections: ['editorials'],
    excerpt: 'On a number that stands at the foot of every page of this newspaper, and on what it cost to print one then.',
    image: { motif: 'newspaper-press', alt: 'A hand press of the early nineteenth century.' },
    contentHtml: paragraphs(
      'A penny, and you had it in your hand. It’s a good year to have begun in. The type was set by gaslight, the news from London was five weeks old, and there was a story about men on the moon just around the corner.',
    ),
  }),
  article({
    slug: '404',
    title: '404',
    hours: 131.45,
    author: 'edith-farquhar',
    sections: ['columnists'],
    excerpt: 'I lived for nine years in Apartment 404, and letters for me were forever being returned. An essay about a door.',
    image: { motif: 'letter', alt: 'An envelope marked “return to sender.”' },
    contentHtml: paragraphs(
      'The mailman thought it was a joke; the boy from the grocer’s thought that it was a dare. I was at home the whole time.',
    ),
  }),
  article({
    slug: 'whitespace-and-controls',
    title: '  A\u00a0Headline\u200b With\u2028 Invisible\u202e Company\u202c\u00ad ',
    hours: 139.45,
    author: 'leopold-stein',
    sections: ['columnists'],
    excerpt: 'Hidden in this line are a zero-width space, a soft\u00adhyphen, a line\u2028separator and an override\u202e that is\u202c closed again. ]]> --> {{ }}',
    image: { motif: 'typewriter', alt: 'A typewriter.\u0007\u200f' },
    contentHtml: paragraphs(
      'In the days of hot metal, what you couldn’t see had weight. There was a drawer for the thin spaces, and a drawer for the thick, and you could drop them on your foot.',
      'Feeds and sitemaps dislike the characters at the ends of this sentence: \u0007\u000b\u001f\ufffe.',
    ),
  }),
];
