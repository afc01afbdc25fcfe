/** A message from the support form, as the support inbox receives it. Replies go to the reader. */
import { isAddress, oneLine } from '../address.ts';
import type { Message, Publisher } from '../model.ts';
import { frame, html, type Rendered, wrap } from './layout.ts';

type SupportMessage = Extract<Message, { kind: 'support' }>;

/** Letters of a name in the subject. */
const longestName = 60;

/** @throws Error when the reader's email address can't be answered */
export function renderSupport(message: SupportMessage, paper: Publisher): Rendered {
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
  const reason = `This message was sent with a form at ${new URL(paper.siteUrl).host}. Your reply goes to the reader.`;
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
    text: `${[
      'A message from a reader',
      facts.map(([what, value]) => `${what}: ${value}`).join('\n'),
      message.message,
      `-- \n${reason}\n${paper.name} · ${paper.siteUrl} · ${paper.contact}`,
    ]
      .map((part) => part.split('\n').map(wrap).join('\n'))
      .join('\n\n')}\n`,
  };
}
