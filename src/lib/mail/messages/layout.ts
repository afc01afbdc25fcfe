/** What every message is made of, and its two forms: HTML that Outlook of 2016 can set, and plain text. */

import type { Sender } from '../address.ts';
import { button, codeBox, frame, html, type Markup } from './frame.ts';
import type { Publisher } from './publisher.ts';

/** A message without its looks. Texts are plain; each paragraph stands by itself. */
export interface MailContent {
  readonly subject: string;
  /** What a mailbox shows beside the subject. */
  readonly preview: string;
  readonly heading: string;
  readonly opening: readonly string[];
  /** What the reader is to do; at most one of the two. */
  readonly code?: string;
  readonly button?: { readonly label: string; readonly url: string };
  /** What else there is to say. */
  readonly closing: readonly string[];
  /** Why the reader gets this message; in small print. */
  readonly reason: string;
}

export interface Rendered {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** Where an answer goes, when not where all others do. */
  readonly replyTo?: Sender;
  /** Headers beside the usual ones, or in their place. Values stand as they are: ASCII, one line. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sets a letter in both of its forms. */
export function layOut(letter: MailContent, paper: Publisher): Rendered {
  return { subject: letter.subject, html: asHtml(letter, paper), text: asText(letter, paper) };
}

function asHtml(letter: MailContent, paper: Publisher): string {
  const paragraphs = (texts: readonly string[]): Markup[] =>
    texts.map((text) => html`<p class="text">${unbroken(text)}</p>`);
  return frame(
    { paper, title: letter.subject, preview: letter.preview, reason: html`${unbroken(letter.reason)}` },
    html`<h1 class="heading">${unbroken(letter.heading)}</h1>
${paragraphs(letter.opening)}
${letter.code === undefined ? [] : codeBox(letter.code)}
${letter.button ? button(letter.button.label, letter.button.url) : []}
${paragraphs(letter.closing)}`,
  );
}

/** Keeps `e-mail` in one line. */
export const unbroken = (text: string): string => text.replace(/\be-mail\b/gu, 'e\u2011mail');

function asText(letter: MailContent, paper: Publisher): string {
  const parts = [
    paper.name,
    letter.heading,
    ...letter.opening,
    ...(letter.code === undefined ? [] : [`    ${letter.code}`]),
    ...(letter.button ? [`${letter.button.label}:\n${letter.button.url}`] : []),
    ...letter.closing,
    `-- \n${letter.reason}\n${paper.name} · ${paper.siteUrl} · ${paper.contact}`,
  ];
  return `${parts.map((part) => part.split('\n').map(wrap).join('\n')).join('\n\n')}\n`;
}

/** Breaks a line at 72 characters; an address is never broken. */
export function wrap(line: string): string {
  if (line.length <= 72 || line.startsWith(' ')) return line;
  const lines: string[] = [];
  let now = '';
  for (const word of line.split(' ')) {
    if (now !== '' && now.length + 1 + word.length > 72) {
      lines.push(now);
      now = word;
    } else now = now === '' ? word : `${now} ${word}`;
  }
  return [...lines, now].join('\n');
}

/** `about a minute`, `10 minutes`. */
export const minutesInWords = (minutes: number): string =>
  minutes <= 1 ? 'about a minute' : `${Math.floor(minutes)} minutes`;
