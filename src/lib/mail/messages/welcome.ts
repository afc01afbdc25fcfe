/** The message to a new registered reader. */
import type { Message } from '../service.ts';
import type { MailContent } from './layout.ts';
import type { Publisher } from './publisher.ts';

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
