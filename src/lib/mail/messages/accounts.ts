/** Mail about accounts: sign-in codes and links, and the welcome to a new registered reader. */
import type { Message, Publisher } from '../model.ts';
import { type MailContent, minutesInWords } from './layout.ts';

export type CodeMessage = Extract<Message, { kind: 'code' }>;

/** The code begins the subject, so that it can be read from a notice. @param minutes that the code still lives */
export function codeMail({ code }: CodeMessage, paper: Publisher, minutes: number): MailContent {
  return {
    subject: `${code} is your code for ${paper.name}`,
    preview: `Type it where you began. It works for ${minutesInWords(minutes)}.`,
    heading: 'Your verification code',
    opening: [`Type this code on the page where you began. It works once, for ${minutesInWords(minutes)}.`],
    code,
    closing: [
      `Nobody from ${paper.name} will ever ask you for it. If you did not ask for this, you need not do anything: without the code nobody gets in.`,
    ],
    reason: `You get this message because somebody typed your e-mail address at ${new URL(paper.siteUrl).host}.`,
  };
}

export type LinkMessage = Extract<Message, { kind: 'link' }>;

/** @param minutes that the link still lives */
export function linkMail({ url, purpose }: LinkMessage, paper: Publisher, minutes: number): MailContent {
  const lives = `It works once, for ${minutesInWords(minutes)}, on any of your devices.`;
  const ignore = 'If you did not ask for this, you need not do anything: without the link nobody gets in.';
  const reason = `You get this message because somebody typed your e-mail address at ${new URL(paper.siteUrl).host}.`;
  if (purpose === 'login') {
    return {
      subject: `Your link to sign in to ${paper.name}`,
      preview: `Open it to sign in. ${lives}`,
      heading: 'Sign in with one click',
      opening: [`Here is your link to sign in to ${paper.name}. ${lives}`],
      button: { label: 'Sign in', url },
      closing: [ignore],
      reason,
    };
  }
  if (purpose === 'register') {
    return {
      subject: `Confirm your e-mail address for ${paper.name}`,
      preview: `One click, and your account is ready. ${lives}`,
      heading: 'Confirm your e-mail address',
      opening: [`Thank you for joining ${paper.name}. Open the link below, and your free account is ready. ${lives}`],
      button: { label: 'Confirm and continue', url },
      closing: [ignore],
      reason,
    };
  }
  return {
    subject: `Complete your registration with ${paper.name}`,
    preview: `One step is left. ${lives}`,
    heading: 'One step is left',
    opening: [`Open the link below to confirm your e-mail address and complete your registration. ${lives}`],
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
    preview: 'Your account is ready. Here is what you can do with it.',
    heading: name ? `Welcome, ${name}` : `Welcome to ${paper.name}`,
    opening: [
      `Your account is ready, and we are glad to have you among our readers.`,
      'You can now read the stories that are open to registered readers, and join the conversation below the articles.',
    ],
    button: { label: 'Read today’s paper', url: `${paper.siteUrl}/` },
    closing: [
      'There is no password to remember. Whenever you come back, type your e-mail address, and we send you a link or a code.',
      `Questions? Write to ${paper.contact}, and a person answers.`,
    ],
    reason: `You get this message once, because an account with your e-mail address was made at ${new URL(paper.siteUrl).host}.`,
  };
}

/**
 * A first name is whatever somebody typed, perhaps with somebody else's e-mail address: nothing that a mailbox would turn into a
 * link, and nothing longer than a name.
 */
function greetable(firstName: string | null): string | null {
  const name = firstName?.trim() ?? '';
  return /^\p{L}[\p{L}\p{M}'’ -]{0,39}$/u.test(name) ? name : null;
}
