/** The message with a six-digit code. */
import type { Message } from '../service.ts';
import { type MailContent, minutesInWords } from './layout.ts';
import type { Publisher } from './publisher.ts';

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
