/** Renders each kind of message as HTML and plain text. The texts are in the files beside this one, the design in layout.ts. */
import type { Message, Publisher } from '../model.ts';
import { codeMail, linkMail, welcomeMail } from './accounts.ts';
import { billingMail } from './billing.ts';
import { layOut, type Rendered } from './layout.ts';
import { renderNewsletter } from './newsletter.ts';
import { renderSupport } from './support.ts';

/**
 * @param minutes for which a link or a code still works; after a delay, fewer than when it was made
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
