/** Frames and players in a body: shells that load on click where the host is allowed, plain links elsewhere. */
import type { BodyContext } from './body-context.server.ts';
import { type Embed, embedOf, webAddress } from './embeds.ts';
import { cleanLine } from './plain-text.ts';
import { textOf } from './sanitize.server.ts';

/** Turns every frame and failed embed of a body into a shell or a link. */
export function embedBlocks(body: HTMLElement, context: BodyContext): void {
  for (const frame of [...body.querySelectorAll('iframe')]) {
    const address = frame.getAttribute('src') ?? '';
    const title = cleanLine(frame.getAttribute('title') ?? '');
    const embed = embedOf(address, context.frameHosts, context.base);
    if (embed) replaceWithShell(frame, embed, title);
    else replaceWithLink(frame, webAddress(address, context.base)?.href ?? null, title);
  }
  // WordPress could not reach the provider, so that only the address stands where the player should be.
  for (const figure of body.querySelectorAll('figure.wp-block-embed')) {
    const wrapper = figure.querySelector('.wp-block-embed__wrapper');
    const address = wrapper && wrapper.children.length <= 1 ? (wrapper.textContent ?? '').trim() : '';
    if (!/^https?:\/\/\S+$/u.test(address) || !wrapper) continue;
    const embed = embedOf(address, context.frameHosts);
    if (embed) replaceWithShell(wrapper, embed, '');
    else replaceWithLink(wrapper, webAddress(address)?.href ?? null, '');
  }
  // An address typed alone in a paragraph is meant as a player; the editor makes one only of what is pasted.
  for (const paragraph of body.querySelectorAll('p')) {
    const address = (paragraph.textContent ?? '').trim();
    const inside = [...paragraph.children];
    if (!/^https?:\/\/\S+$/u.test(address) || inside.length > 1 || inside.some(({ localName }) => localName !== 'a'))
      continue;
    if (paragraph.closest('figure, blockquote, li, td, th')) continue;
    const embed = embedOf(inside[0]?.getAttribute('href') ?? address, context.frameHosts);
    if (embed) replaceWithShell(paragraph, embed, '');
  }
}

/** The figure that WordPress puts around an embed, if the embed is all that it shows. */
function frameOf(element: Element): Element {
  const figure = element.closest('figure');
  return figure && figure.querySelectorAll('iframe, img, table, video, audio, [data-embed-src]').length <= 1
    ? figure
    : element;
}

/** Blocks cannot stand in a paragraph; the paragraph goes when the frame was all that it held. */
function place(old: Element, block: Element): void {
  const paragraph = old.closest('p, h1, h2, h3, h4, h5, h6');
  if (!paragraph || paragraph === old) {
    old.replaceWith(block);
    return;
  }
  old.remove();
  paragraph.after(block);
  if ((paragraph.textContent ?? '').trim() === '' && paragraph.children.length === 0) paragraph.remove();
}

function replaceWithShell(element: Element, embed: Embed, title: string): void {
  const document = element.ownerDocument;
  const old = frameOf(element);
  const words = old.querySelector('figcaption');
  const shell = document.createElement('figure');
  shell.setAttribute('class', `embed embed-${embed.kind}`);
  shell.setAttribute('data-embed-src', embed.src);
  shell.setAttribute('data-embed-provider', embed.provider);
  shell.setAttribute('data-embed-title', title || cleanLine(words?.textContent ?? '') || embed.provider);
  const link = document.createElement('a');
  link.setAttribute('href', embed.href);
  link.setAttribute('rel', 'noopener');
  link.textContent = `${embed.verb} on ${embed.provider}`;
  shell.append(link);
  if (words && cleanLine(words.textContent ?? '') !== '') shell.append(words);
  place(old, shell);
}

/** Puts a link in the place of what cannot be shown; without an address it goes. */
export function replaceWithLink(element: Element, href: string | null, title: string): void {
  const document = element.ownerDocument;
  const old = frameOf(element);
  if (href === null) {
    old.remove();
    return;
  }
  const words = cleanLine(textOf(old.querySelector('figcaption') ?? document.createElement('span')));
  const paragraph = document.createElement('p');
  const link = document.createElement('a');
  link.setAttribute('href', href);
  link.textContent = title || words || new URL(href).hostname;
  paragraph.append(link);
  place(old, paragraph);
}
