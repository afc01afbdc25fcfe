/** Renders each kind of message as HTML and plain text. Texts about subscriptions are in billing.ts, the design in layout.ts. */
import { isAddress, type Message, type NewsletterStory, oneLine, type Publisher } from '../model.ts';
import { billingMail } from './billing.ts';
import {
  frame,
  hostOf,
  html,
  imprint,
  layOut,
  type MailContent,
  type Markup,
  minutesInWords,
  plainText,
  type Rendered,
} from './layout.ts';

/**
 * @param minutes for which a link or a code is still valid; after a delay, fewer than originally
 * @throws Error when a link or a code is not safe to put into a message
 */
export function renderMessage(message: Message, paper: Publisher, minutes: number): Rendered {
  switch (message.kind) {
    case 'link':
      if (!URL.canParse(message.url) || !/^https?:\/\/[\x21-\x7e]+$/.test(message.url))
        throw new Error('The link in the message is not a web address.');
      return layOut(linkMail(message, paper, minutes), paper);
    case 'code':
      if (!/^[0-9A-Z]{4,12}$/.test(message.code)) throw new Error('The code in the message is not a code.');
      return layOut(codeMail(message, paper, minutes), paper);
    case 'newsletter':
      return renderNewsletter(message, paper);
    case 'support':
      return renderSupport(message, paper);
    case 'welcome':
      return layOut(welcomeMail(message, paper), paper);
    default:
      return layOut(billingMail(message, paper), paper);
  }
}

type Of<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>;

/** Small print of mail to an address that was entered on the site. */
const requested = (paper: Publisher): string =>
  `You’re receiving this email because your address was entered at ${hostOf(paper)}.`;

/** The subject starts with the code, so that a notification shows it. @param minutes that the code is still valid */
function codeMail({ code }: Of<'code'>, paper: Publisher, minutes: number): MailContent {
  return {
    subject: `${code} is your code for ${paper.name}`,
    preview: `Enter it on the page that asked for it. It works for ${minutesInWords(minutes)}.`,
    heading: 'Your verification code',
    opening: [`Enter this code on the page that asked for it. It works once, for ${minutesInWords(minutes)}.`],
    code,
    closing: [
      `${paper.name} will never call or write to ask for this code. If you didn’t request it, ignore this email: no one can sign in without the code.`,
    ],
    reason: requested(paper),
  };
}

/** @param minutes that the link is still valid */
function linkMail({ url, purpose, newsletters }: Of<'link'>, paper: Publisher, minutes: number): MailContent {
  const validity = `It works once, for ${minutesInWords(minutes)}, on any of your devices.`;
  // Anyone can enter a reader's address in the newsletter form, so the mail says what the link does.
  const signUp = newsletters
    ? [`The link also signs you up for ${newsletters}. The page it opens lets you continue without newsletters.`]
    : [];
  const about = {
    login: {
      subject: `Your link to sign in to ${paper.name}`,
      preview: 'Open it to sign in.',
      heading: 'Sign in with one click',
      opening: `Use this link to sign in to ${paper.name}.`,
      label: 'Sign in',
    },
    register: {
      subject: `Confirm your email address for ${paper.name}`,
      preview: 'One click and your account is ready.',
      heading: 'Confirm your email address',
      opening: `Thanks for joining ${paper.name}. Open the link below to confirm your address and start reading.`,
      label: 'Confirm and continue',
    },
    completeRegistration: {
      subject: `Complete your registration with ${paper.name}`,
      preview: 'One step to go.',
      heading: 'One step to go',
      opening: 'Open the link below to confirm your email address and complete your registration.',
      label: 'Complete my registration',
    },
  }[purpose];
  return {
    subject: about.subject,
    preview: `${about.preview} ${validity}`,
    heading: about.heading,
    opening: [`${about.opening} ${validity}`, ...signUp],
    button: { label: about.label, url },
    closing: ['If you didn’t request it, ignore this email: no one can sign in without the link.'],
    reason: requested(paper),
  };
}

function welcomeMail({ firstName }: Of<'welcome'>, paper: Publisher): MailContent {
  const name = greetable(firstName);
  return {
    subject: `Welcome to ${paper.name}`,
    preview: 'Your account is ready. Here’s what you can do with it.',
    heading: name ? `Welcome, ${name}` : `Welcome to ${paper.name}`,
    opening: [
      'Your account is ready, and we’re glad to have you as a reader.',
      'You can now read stories that are open to registered readers and join the conversation below the articles.',
    ],
    button: { label: 'Read today’s paper', url: `${paper.siteUrl}/` },
    closing: [
      'There’s no password to remember. When you come back, enter your email address and we’ll send you a link or a code.',
      `Questions? Write to ${paper.contact}. A person will answer.`,
    ],
    reason: `You’re receiving this email because an account was created with your address at ${hostOf(paper)}.`,
  };
}

/**
 * The name to greet by; `null` for text that a mailbox would turn into a link or that is longer than a name. Names are typed by users,
 * perhaps with another person's email address.
 */
function greetable(firstName: string | null): string | null {
  const name = firstName?.trim() ?? '';
  return /^\p{L}[\p{L}\p{M}'’ -]{0,39}$/u.test(name) ? name : null;
}

/** Longest name in the subject, in characters. */
const longestName = 60;

/**
 * A reader's message from a form, as the support inbox receives it. Replies go to the reader.
 *
 * @throws Error when the reader's email address is invalid
 */
function renderSupport(message: Of<'support'>, paper: Publisher): Rendered {
  const { email, known, topic = 'Support', about = '' } = message;
  if (!isAddress(email)) throw new Error('A message from a reader has no address to answer.');
  const name = oneLine(message.name).slice(0, longestName);
  const when = new Intl.DateTimeFormat(paper.language, {
    timeZone: paper.timeZone,
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(message.at);
  const all: readonly (readonly [what: string, value: string])[] = [
    ['Name', oneLine(message.name)],
    ['Email', email],
    ['Phone', oneLine(message.phone)],
    ['About', oneLine(about)],
    ['Account', known ? 'signed in with this address' : 'not signed in with this address'],
    ['Sent', when],
  ];
  const facts = all.filter(([, value]) => value !== '');
  const lines = message.message.split('\n');
  const reason = `This message was sent with a form at ${hostOf(paper)}. Your reply goes to the reader.`;
  return {
    subject: `${topic}: ${name}`,
    replyTo: { name, address: email },
    // A person wrote it, so a ticket system should open a ticket and may send a confirmation.
    headers: { 'Auto-Submitted': 'no', 'X-Auto-Response-Suppress': 'None' },
    html: frame(
      { paper, title: `${topic}: ${name}`, preview: lines[0] ?? '', reason: html`${reason}` },
      html`<h1 class="heading">A message from a reader</h1>
${facts.map(([what, value]) => html`<p class="byline">${what}: ${value}</p>`)}
<p class="dateline"></p>
${lines.map((line) => html`<p class="text">${line}</p>`)}`,
    ),
    text: plainText([
      'A message from a reader',
      facts.map(([what, value]) => `${what}: ${value}`).join('\n'),
      message.message,
      `-- \n${reason}\n${imprint(paper)}`,
    ]),
  };
}

/**
 * A newsletter, with an unsubscribe link that takes one click (RFC 8058).
 *
 * @throws Error when its unsubscribe link isn't a web address, or it has no story
 */
function renderNewsletter(message: Of<'newsletter'>, paper: Publisher): Rendered {
  const { letter, slug, stories, unsubscribe } = message;
  const [lead, ...others] = stories;
  if (!lead) throw new Error('The newsletter has no story.');
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(unsubscribe))
    throw new Error("The newsletter's unsubscribe link is not a web address.");
  const host = hostOf(paper);
  return {
    subject: `${letter}: ${lead.title}`,
    html: newsletterHtml(message, lead, others, paper, host),
    text: newsletterText(message, paper, host),
    headers: {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': `<${slug.replace(/[^a-z0-9-]/gu, '')}.${host.replace(/:\d+$/u, '')}>`,
      Precedence: 'bulk',
    },
  };
}

const newslettersUrl = (paper: Publisher): string => `${paper.siteUrl}/dashboard/newsletters`;

function newsletterHtml(
  { letter, day, unsubscribe }: Of<'newsletter'>,
  lead: NewsletterStory,
  others: readonly NewsletterStory[],
  paper: Publisher,
  host: string,
): string {
  const reason = html`You’re receiving this email because you signed up for ${letter} at ${host}.<br><a class="link" href="${unsubscribe}">Unsubscribe from ${letter}</a> · <a class="link" href="${newslettersUrl(paper)}">Manage your newsletters</a><br>${paper.postalAddress}`;
  const preview = lead.standfirst || others[0]?.title || letter;
  return frame(
    { paper, title: `${letter}: ${lead.title}`, preview, reason },
    html`<h1 class="heading">${letter}</h1>
<p class="dateline">${day}</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${[row(lead, 'lead', paper), ...others.map((story) => row(story, 'story', paper))]}
</table>`,
  );
}

const row = (story: NewsletterStory, size: 'lead' | 'story', paper: Publisher): Markup =>
  html`<tr><td class="rule">${story.kicker ? html`<p class="kicker">${story.kicker}</p>` : []}<h2 dir="auto" style="margin:0"><a class="${size}" href="${paper.siteUrl}${story.path}">${story.title}</a></h2>${story.standfirst ? html`<p class="standfirst" dir="auto">${story.standfirst}</p>` : []}${credits(story) ? html`<p class="byline">${credits(story)}</p>` : []}</td></tr>`;

const credits = ({ byline, minutes }: NewsletterStory): string =>
  [...(byline ? [`By ${byline}`] : []), ...(minutes > 0 ? [`${minutes} min read`] : [])].join(' · ');

function newsletterText(
  { letter, day, stories, unsubscribe }: Of<'newsletter'>,
  paper: Publisher,
  host: string,
): string {
  return plainText([
    `${paper.name}\n${letter} · ${day}`,
    ...stories.map((story) =>
      [
        ...(story.kicker ? [story.kicker.toUpperCase()] : []),
        story.title,
        ...(story.standfirst ? [story.standfirst] : []),
        ...(credits(story) ? [credits(story)] : []),
        `${paper.siteUrl}${story.path}`,
      ].join('\n'),
    ),
    [
      `-- \nYou’re receiving this email because you signed up for ${letter} at ${host}.`,
      `Unsubscribe: ${unsubscribe}`,
      `Manage your newsletters: ${newslettersUrl(paper)}`,
      paper.postalAddress,
      imprint(paper),
    ].join('\n'),
  ]);
}
