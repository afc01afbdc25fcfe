/** A message by its kind, set in the paper's type. */
import type { Message, Publisher } from '../model.ts';
import { codeMail, linkMail, welcomeMail } from './accounts.ts';
import { billingMail } from './billing.ts';
import { layOut, type Rendered } from './layout.ts';
import { renderNewsletter } from './newsletter.ts';
import { renderSupport } from './support.ts';

/**
 * @param minutes that a link or a code still lives, which after a delay is less than it was made for
 * @throws Error when a link or a code could not stand in a message as it is
 */
export function renderMessage(message: Message, paper: Publisher, minutes: number): Rendered {
  switch (message.kind) {
    case 'link':
      if (!URL.canParse(message.url) || !/^https?:\/\/[\x21-\x7e]+$/.test(message.url))
        throw new Error('A link to be mailed is no web address.');
      return layOut(linkMail(message, paper, minutes), paper);
    case 'code':
      if (!/^[0-9A-Z]{4,12}$/.test(message.code)) throw new Error('A code to be mailed has other signs than digits.');
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
