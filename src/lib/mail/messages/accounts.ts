/** Mail about accounts: sign-in codes and links, and the welcome to a new registered reader. */
import type { Message, Publisher } from '../model.ts';
import { type MailContent, minutesInWords } from './layout.ts';

/** Small print of mail that follows from an address entered on the site. */
const requested = (paper: Publisher): string =>
  `You’re receiving this email because your address was entered at ${new URL(paper.siteUrl).host}.`;

export type CodeMessage = Extract<Message, { kind: 'code' }>;

/** The code begins the subject, so that it can be read from a notice. @param minutes that the code still lives */
export function codeMail({ code }: CodeMessage, paper: Publisher, minutes: number): MailContent {
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

export type LinkMessage = Extract<Message, { kind: 'link' }>;

/** @param minutes that the link still lives */
export function linkMail({ url, purpose }: LinkMessage, paper: Publisher, minutes: number): MailContent {
  const lives = `It works once, for ${minutesInWords(minutes)}, on any of your devices.`;
  const ignore = 'If you didn’t request it, ignore this email: no one can sign in without the link.';
  const reason = requested(paper);
  if (purpose === 'login') {
    return {
      subject: `Your link to sign in to ${paper.name}`,
      preview: `Open it to sign in. ${lives}`,
      heading: 'Sign in with one click',
      opening: [`Use this link to sign in to ${paper.name}. ${lives}`],
      button: { label: 'Sign in', url },
      closing: [ignore],
      reason,
    };
  }
  if (purpose === 'register') {
    return {
      subject: `Confirm your email address for ${paper.name}`,
      preview: `One click and your account is ready. ${lives}`,
      heading: 'Confirm your email address',
      opening: [
        `Thanks for joining ${paper.name}. Open the link below to confirm your address and start reading. ${lives}`,
      ],
      button: { label: 'Confirm and continue', url },
      closing: [ignore],
      reason,
    };
  }
  return {
    subject: `Complete your registration with ${paper.name}`,
    preview: `One step to go. ${lives}`,
    heading: 'One step to go',
    opening: [`Open the link below to confirm your email address and complete your registration. ${lives}`],
    button: { label: 'Complete my registration', url },
    closing: [ignore],
    reason,
  };
}

export type WelcomeMessage = Extract<Message, { kind: 'welcome' }>;

export function welcomeMail({ firstName }: WelcomeMessage, paper: Publisher): MailContent {
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
    reason: `You’re receiving this email because an account was created with your address at ${new URL(paper.siteUrl).host}.`,
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
