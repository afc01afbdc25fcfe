/** The message with a link to sign in, to register, or to complete a registration by. */
import type { Message } from '../service.ts';
import { type MailContent, minutesInWords } from './layout.ts';
import type { Publisher } from './publisher.ts';

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
