/** Default texts of the newspaper's own pages, until editors write them in WordPress, and the messages of a failed preview. */
import { publication } from '../../publication.ts';
import type { StaticPage } from '../content/model.ts';
import { supportHoursWords } from '../support/schema.ts';

export interface BuiltinPage {
  readonly title: string;
  readonly excerpt: string;
  readonly bodyHtml: string;
}

const { name, motto, contact } = publication;
const ways = [null, null, 'Two', 'Three'][publication.plans.sold.length];
const mail = (address: string): string => `<a href="mailto:${address}">${address}</a>`;
const paragraphs = (...texts: readonly string[]): string => texts.map((text) => `<p>${text}</p>`).join('');

const pages: Readonly<Record<string, BuiltinPage>> = {
  about: {
    title: `About ${name}`,
    excerpt: publication.description,
    bodyHtml: `${paragraphs(
      `${name} is a daily newspaper, founded in ${publication.founded}. Its motto is “${motto}.”`,
      'Reporters and editors sign what they write. We keep news and opinion apart, and label opinion clearly.',
    )}<h2>Corrections</h2>${paragraphs(
      `We correct our errors in the article, and say that we did: <a href="/corrections">all corrections</a>. Write to ${mail(contact.corrections)}.`,
    )}<h2>Tips</h2>${paragraphs(`If you know something our readers should know, write to ${mail(contact.tips)}.`)}<h2>Contact</h2>${paragraphs(
      `${mail(contact.email)}, ${contact.phone}.`,
    )}`,
  },
  'privacy-policy': {
    title: 'Privacy Policy',
    excerpt: 'What this site learns about its readers, why, and how to have it deleted.',
    bodyHtml: `<h2>What we keep</h2>${paragraphs(
      'Your account holds your email address and what you added to your profile. You can read pages without an account. If you’re signed in, your account also holds which stories you read; you can clear this history or turn it off.',
    )}<h2>Players and posts of other sites</h2>${paragraphs(
      'Videos and posts of other sites load only after you press their button. Until then nothing is sent there.',
    )}<h2>Your rights</h2>${paragraphs(
      `Ask what we hold about you, have it corrected, or have it deleted: ${mail(contact.email)}.`,
    )}<h2>Terms of use</h2>${paragraphs(
      `The content of ${name} belongs to ${name} and its authors. You may read it, quote from it with a link, and print it for your own use.`,
      'You can cancel a subscription at any time; it then runs to the end of the period you paid for.',
    )}`,
  },
  accessibility: {
    title: 'Accessibility',
    excerpt: `${name} is for everyone, whatever they read it with.`,
    bodyHtml: `<h2>What we aim for</h2>${paragraphs(
      'This site is built to meet the Web Content Accessibility Guidelines (WCAG) 2.2 at level AA. Every kind of page is checked against them by machine before a change goes live, with scripts on and off, at the width of a phone and of a desktop.',
    )}<h2>What that means</h2><ul><li>Everything can be reached and used by keyboard, and what has the focus can be seen.</li><li>Pages have headings, landmarks and text alternatives for pictures.</li><li>Text can be enlarged, and colors keep their contrast.</li><li>Articles can be read, and accounts managed, without JavaScript.</li><li>Nothing flashes, and what moves stops for readers who ask their device for less motion.</li></ul><h2>What we know falls short</h2><ul><li>Crosswords, videos and posts of other sites are made by others, and may not meet the guidelines.</li><li>Some older pictures have a short description only.</li></ul><h2>Tell us</h2>${paragraphs(
      `If something keeps you from reading, write to ${mail(contact.email)} or call ${contact.phone}. Say which page it was and what you read with. We answer within five working days.`,
    )}`,
  },
  events: {
    title: 'Events',
    excerpt: 'Conversations with the people in the news and the people who write it.',
    bodyHtml: paragraphs('No event is announced at the moment. Subscribers hear about new ones first.'),
  },
  'oped-guidelines': {
    title: 'Op-Ed Guidelines',
    excerpt: 'How to write for the opinion pages.',
    bodyHtml: `${paragraphs(
      'We read every submission. A good one makes one argument, makes it early, and rests it on facts that can be checked.',
    )}<ul><li>Between 600 and 900 words, as text in the email.</li><li>Not published elsewhere, in print or online.</li><li>Sources for every figure and quotation, as links.</li><li>A line about yourself and anything you stand to gain.</li></ul>${paragraphs(
      `Send it to ${mail(contact.email)}. If you haven’t heard from us in five working days, please offer it elsewhere.`,
    )}`,
  },
  community: {
    title: 'Community',
    excerpt: 'How we talk with each other under the articles.',
    bodyHtml: `${paragraphs(
      'Comments are part of the paper. Disagree with the argument and leave the person alone; stay with the subject; sign with a name that you will stand by.',
    )}<ul><li>No insults, no threats, no slurs.</li><li>No advertising, and no links that serve only you.</li><li>Say where a claim comes from.</li></ul>${paragraphs(
      'Editors remove what breaks these rules and may close a discussion.',
    )}`,
  },
  cancel: {
    title: 'Cancel your subscription',
    excerpt: 'You can cancel at any time. You keep your access until the end of the period you paid for.',
    bodyHtml: paragraphs(
      `Write to ${mail(contact.email)} or call ${contact.phone} (${supportHoursWords}), and tell us the email address of your account.`,
    ),
  },
  newsletter: {
    title: 'Newsletters',
    excerpt: `${name} in your inbox, in the morning and in the evening. Both newsletters are free.`,
    bodyHtml: '',
  },
  games: { title: 'Games', excerpt: 'Crosswords to be solved between two stops, or over one coffee.', bodyHtml: '' },
  follow: { title: `Follow ${name}`, excerpt: 'Wherever you read, we come along.', bodyHtml: '' },
  thankyou: { title: 'Thank you', excerpt: `${name} lives by its readers. Welcome among them.`, bodyHtml: '' },
  pricing: {
    title: 'Choose your subscription',
    excerpt: `${ways ? `${ways} ways to subscribe` : 'Subscribe'} to ${name}. Cancel at any time.`,
    bodyHtml: '',
  },
  membership: {
    title: 'Become a member',
    excerpt: 'For those who want a seat in the room, and the paper on the table.',
    bodyHtml: paragraphs(
      'Once a month the editors take members’ questions: what we ran, what we held, and why.',
      'Add the weekly print edition and it comes by mail: the week’s best, set and printed to be kept.',
    ),
  },
  print: {
    title: `${name} in print`,
    excerpt: 'Once a week, on paper.',
    bodyHtml: paragraphs('The week’s best reporting, set by people and printed to be kept, comes by mail.'),
  },
  founder: {
    title: 'Join the founders',
    excerpt: 'For the few who stand behind the paper.',
    bodyHtml: paragraphs(
      'Founders carry what subscriptions alone do not: the reporter who follows one story for a year, the bureau in a place where no other newspaper has one, the lawyer who reads before we print.',
      'They do not choose what we write. They make sure that there is someone to write it.',
    ),
  },
};

/** Slugs of the pages whose text editors can write in WordPress. */
export const editorialSlugs: readonly string[] = Object.keys(pages);

/** The fixed pages that `src/pages/[page].astro` shows, by slug, with what is special about each (`src/layouts/Editorial.astro`). */
export const textPages: ReadonlyMap<
  string,
  { readonly dated?: true; readonly fixedIds?: Readonly<Record<string, string>> }
> = new Map([
  ['accessibility', { dated: true }],
  ['community', {}],
  ['events', {}],
  ['oped-guidelines', {}],
  ['privacy-policy', { dated: true, fixedIds: { 'terms of use': 'Terms-of-use' } }],
]);

/**
 * A page's text: the editors' text, with the default for each part that they left empty.
 *
 * @param page as the content store has it
 */
export function pageText(
  slug: string,
  page: StaticPage | null,
): BuiltinPage & Pick<StaticPage, 'image'> & { readonly modified: string | null } {
  const builtin = pages[slug];
  if (!page) return { ...builtinPage(slug), image: null, modified: null };
  return {
    title: page.title || builtin?.title || slug,
    excerpt: page.excerpt || (page.bodyHtml.trim() === '' && builtin?.excerpt) || '',
    bodyHtml: page.bodyHtml.trim() || builtin?.bodyHtml || '',
    image: page.image,
    modified: page.modified,
  };
}

/** @throws RangeError for a slug without a default text, which is an error in a route */
export function builtinPage(slug: string): BuiltinPage {
  const page = pages[slug];
  if (!page) throw new RangeError(`builtinPage: there is no text for ${slug} (${Object.keys(pages).join(', ')})`);
  return page;
}

/** Message for an editor when a preview can't be shown. */
export interface PreviewTrouble {
  readonly heading: string;
  readonly advice: string;
}

/** What the ribbon above a preview says. @param isProtected whether the document has a password */
export function previewNote(isProtected = false): string {
  const who = 'Only people with this link can see it, for a few minutes.';
  return isProtected ? `It has a password in WordPress, so the site doesn’t show it to readers. ${who}` : who;
}

/** The message for a preview's status and error, as `Content.preview` answers them (src/content/service.ts). */
export function previewTrouble(status: number, error = ''): PreviewTrouble {
  switch (status) {
    case 400:
      return {
        heading: 'This isn’t a preview link',
        advice: 'Part of the address is missing. Press Preview in WordPress again.',
      };
    case 401:
    case 403:
      return {
        heading: 'This preview link is not signed by the newsroom',
        advice:
          'Press Preview in WordPress again. If that leads here too, compare the secret in the newsroom’s settings with the site’s.',
      };
    case 404:
      return { heading: 'We couldn’t find this draft', advice: 'It may have been deleted in WordPress.' };
    case 410:
      return {
        heading: 'This preview has expired',
        advice: 'A preview link works for a few minutes. Press Preview in WordPress again.',
      };
    case 422:
      return { heading: 'This draft can’t be shown', advice: error };
    case 501:
      return {
        heading: 'Previews are off',
        advice:
          'The site has no password for WordPress. Set WORDPRESS_USER, WORDPRESS_APP_PASSWORD and NEWSROOM_SECRET.',
      };
    default:
      return { heading: 'WordPress didn’t respond', advice: 'Wait a moment, then reload this page.' };
  }
}
