/** What a page of the paper says until its editors have written it in WordPress. */

import { publication } from '../../publication.ts';
import type { StaticPage } from '../content/model.ts';

export interface BuiltinPage {
  readonly title: string;
  readonly excerpt: string;
  readonly bodyHtml: string;
}

const { name, motto, contact } = publication;
const mail = (address: string): string => `<a href="mailto:${address}">${address}</a>`;
const paragraphs = (...texts: readonly string[]): string => texts.map((text) => `<p>${text}</p>`).join('');

const pages: Readonly<Record<string, BuiltinPage>> = {
  about: {
    title: `About ${name}`,
    excerpt: publication.description,
    bodyHtml: `${paragraphs(
      `${name} is a daily newspaper, founded in ${publication.founded}. Its motto is “${motto}.”`,
      'Reporters and editors sign what they write. News stands apart from opinion, and opinion is set so that it can be told from news.',
    )}<h2>Corrections</h2>${paragraphs(
      `What we got wrong we put right, in the article and in the open. Write to ${mail(contact.corrections)}.`,
    )}<h2>Tips</h2>${paragraphs(`If you know something that readers should know, write to ${mail(contact.tips)}.`)}<h2>Contact</h2>${paragraphs(
      `${mail(contact.email)}, ${contact.phone}.`,
    )}`,
  },
  'privacy-policy': {
    title: 'Privacy Policy',
    excerpt: 'What this site learns about its readers, why, and how to have it deleted.',
    bodyHtml: `<h2>What we keep</h2>${paragraphs(
      'An account holds the e-mail address that you gave and what you added to your profile. Pages can be read without an account, and reading them leaves nothing in a profile.',
    )}<h2>Players and posts of other sites</h2>${paragraphs(
      'Videos and posts of other sites load only after you press their button. Until then nothing is sent there.',
    )}<h2>Your rights</h2>${paragraphs(
      `Ask what we hold about you, have it corrected, or have it deleted: ${mail(contact.email)}.`,
    )}<h2>Terms of use</h2>${paragraphs(
      `What stands in ${name} belongs to ${name} and its authors. You may read it, quote from it with a link, and print it for your own use.`,
      'A subscription may be cancelled at any time; it then runs to the end of the time paid for.',
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
    bodyHtml: paragraphs('No event is announced at the moment. Subscribers hear of new ones first.'),
  },
  'oped-guidelines': {
    title: 'Op-Ed Guidelines',
    excerpt: 'How to write for the opinion pages.',
    bodyHtml: `${paragraphs(
      'We read every submission. A good one makes one argument, makes it early, and rests it on facts that can be checked.',
    )}<ul><li>Between 600 and 900 words, as text in the e-mail.</li><li>Not published elsewhere, in print or online.</li><li>Sources for every figure and quotation, as links.</li><li>A line about yourself and anything you stand to gain.</li></ul>${paragraphs(
      `Send it to ${mail(contact.email)}. If you have not heard from us in five working days, please offer it elsewhere.`,
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
    excerpt: 'You may cancel at any time. You keep what you have paid for until it ends.',
    bodyHtml: paragraphs(
      `Write to ${mail(contact.email)} or call ${contact.phone} on weekdays between 9 a.m. and 5 p.m. Eastern Time, and tell us the e-mail address of your account.`,
    ),
  },
  newsletter: {
    title: 'Newsletters',
    excerpt: `${name} in your inbox, in the morning and in the evening. Both letters are free.`,
    bodyHtml: '',
  },
  games: { title: 'Games', excerpt: 'Crosswords to be solved between two stops, or over one coffee.', bodyHtml: '' },
  follow: { title: `Follow ${name}`, excerpt: 'Wherever you read, we come along.', bodyHtml: '' },
  thankyou: { title: 'Thank you', excerpt: `${name} lives by its readers. Welcome among them.`, bodyHtml: '' },
  pricing: {
    title: 'Choose your subscription',
    excerpt: `Three ways to subscribe to ${name}. Cancel at any time.`,
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
      'Founders carry what subscriptions alone do not: the reporter who follows one story for a year, the desk in a place where nobody else keeps one, the lawyer who reads before we print.',
      'They do not choose what we write. They make sure that there is someone to write it.',
    ),
  },
};

/** Slugs of the pages whose text editors may keep in WordPress. */
export const editorialSlugs: readonly string[] = Object.keys(pages);

/**
 * A page's words: the editors' where WordPress has the page, the built-in ones part by part where it says nothing.
 *
 * @param kept the page of the content store
 */
export function pageText(
  slug: string,
  kept: StaticPage | null,
): BuiltinPage & Pick<StaticPage, 'image'> & { readonly modified: string | null } {
  const own = pages[slug];
  if (!kept) return { ...builtinPage(slug), image: null, modified: null };
  return {
    title: kept.title || own?.title || slug,
    excerpt: kept.excerpt || (kept.bodyHtml.trim() === '' && own?.excerpt) || '',
    bodyHtml: kept.bodyHtml.trim() || own?.bodyHtml || '',
    image: kept.image,
    modified: kept.modified,
  };
}

/** @throws RangeError for a slug that has no built-in text: a mistake in the route, not of a reader */
export function builtinPage(slug: string): BuiltinPage {
  const page = pages[slug];
  if (!page) throw new RangeError(`builtinPage: there is no text for ${slug} (${Object.keys(pages).join(', ')})`);
  return page;
}
