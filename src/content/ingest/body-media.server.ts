/** Frames, players and pictures in a story's body: what WordPress delivers becomes markup of this site. */
import { imageSrcset, imageUrl, sizesOnPhones } from '../../lib/images/url.ts';
import { type Addresses, addressOn, type Embed, embedOf, isSvg, webAddress } from './addresses.ts';
import { cleanLine, textOf } from './sanitize.server.ts';

/** What the steps that transform links need. */
export interface LinkContext extends Addresses {
  /** Address of the document itself, the base of relative addresses. */
  readonly base: string;
}

/** The context of the steps that transform a body. */
export interface BodyContext extends LinkContext {
  readonly frameHosts: readonly string[];
  /** Hosts other than WordPress that pictures, audio and video may come from, `host` or `host:port`. */
  readonly mediaHosts?: readonly string[] | undefined;
  /** The text of captions; `null` when they can't be fetched. */
  captions?(url: string): Promise<string | null>;
  measure(url: string): Promise<{ width: number; height: number } | null>;
}

/** An element with attributes, or with its text. */
export function create(
  document: Document,
  name: string,
  attributes: Readonly<Record<string, string>>,
  text?: string,
): HTMLElement {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Replaces an element by its children. */
export function unwrap(element: Element): void {
  element.replaceWith(...element.childNodes);
}

/** Links in place of a frame, a recording or a picture. */
const mediaLinks = new WeakSet<Element>();

/** Whether an element is a link in place of media that the site can't show. */
export const isMediaLink = (element: Element): boolean => mediaLinks.has(element);

// Frames in a body: from an allowed host a shell, which loads the frame when the reader clicks it; from any other a link.

/** Turns every frame and every embed that WordPress couldn't convert into a shell or a link. */
export function embedBlocks(body: HTMLElement, context: BodyContext): void {
  // From the last to the first: each is placed directly after its paragraph.
  for (const frame of [...body.querySelectorAll('iframe')].reverse()) {
    const address = frame.getAttribute('src') ?? '';
    const title = cleanLine(frame.getAttribute('title') ?? '');
    const embed = embedOf(address, context.frameHosts, context.base);
    if (embed) replaceWithShell(frame, embed, title);
    else replaceWithLink(frame, webAddress(address, context.base), title);
  }
  // WordPress couldn't reach the provider and left the plain address in place of the player.
  for (const figure of body.querySelectorAll('figure.wp-block-embed')) {
    const wrapper = figure.querySelector('.wp-block-embed__wrapper');
    const address = wrapper && wrapper.children.length <= 1 ? (wrapper.textContent ?? '').trim() : '';
    if (!/^https?:\/\/\S+$/u.test(address) || !wrapper) continue;
    const embed = embedOf(address, context.frameHosts);
    if (embed) replaceWithShell(wrapper, embed, '');
    else replaceWithLink(wrapper, webAddress(address), '');
  }
  // An editor who types an address alone in a paragraph wants a player; WordPress converts only pasted addresses.
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

/** The figure that WordPress puts around an embed or a picture, if the figure shows nothing else. */
function figureAround(element: Element): Element {
  const figure = element.closest('figure');
  return figure && figure.querySelectorAll('iframe, img, table, video, audio, [data-embed-src]').length <= 1
    ? figure
    : element;
}

/** Replaces an element by a block; one in a paragraph is placed after the paragraph, which can't contain blocks. */
function replaceWithBlock(old: Element, block: Element): void {
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
  const old = figureAround(element);
  const caption = old.querySelector('figcaption');
  const shell = create(document, 'figure', {
    class: `embed embed-${embed.kind}`,
    'data-embed-src': embed.src,
    'data-embed-provider': embed.provider,
    'data-embed-title': title || cleanLine(caption?.textContent ?? '') || embed.provider,
  });
  shell.append(create(document, 'a', { href: embed.href, rel: 'noopener' }, `${embed.verb} on ${embed.provider}`));
  if (caption && cleanLine(caption.textContent ?? '') !== '') shell.append(caption);
  replaceWithBlock(old, shell);
}

/** Replaces an element that can't be shown by a link, or removes it if it has no address. */
function replaceWithLink(element: Element, address: URL | null, title: string): void {
  const document = element.ownerDocument;
  const old = figureAround(element);
  if (!address) {
    old.remove();
    return;
  }
  const caption = cleanLine(textOf(old.querySelector('figcaption') ?? document.createElement('span')));
  const paragraph = create(document, 'p', {});
  const link = create(document, 'a', { href: address.href }, title || caption || address.hostname);
  mediaLinks.add(link);
  paragraph.append(link);
  replaceWithBlock(old, paragraph);
}

// Pictures in a body: their addresses use the image path, their dimensions are known, and they load lazily.

const sizes = sizesOnPhones('(min-width: 48rem) 42rem, 100vw');
/** Pictures of one body that are measured at the same time. */
const measuredAtOnce = 4;

interface Source {
  readonly url: string;
  /** Width of the file at `url`, if the markup states it. */
  readonly width: number | null;
}

const dimension = (element: Element, name: string): number | null => {
  const value = Number(/^\s*(\d{1,5})(?:px)?\s*$/u.exec(element.getAttribute(name) ?? '')?.[1] ?? 0);
  return value > 0 ? value : null;
};

/** The largest file that WordPress offers for a picture: `srcset` includes the original, while `src` is often a smaller copy. */
function largestSource(image: Element, base: string): Source | null {
  const own = webAddress(image.getAttribute('src'), base);
  if (!own || isSvg(own)) return null;
  let best: Source = { url: own.href, width: null };
  for (const candidate of (image.getAttribute('srcset') ?? '').split(/,\s+/u)) {
    const [, address = '', width = ''] = /^(\S+)\s+(\d{1,5})w$/u.exec(candidate.trim()) ?? [];
    const url = webAddress(address, base);
    if (url && url.host === own.host && Number(width) > (best.width ?? 0))
      best = { url: url.href, width: Number(width) };
  }
  return best;
}

/** Emoji that were pasted as pictures become text again. */
export function restoreEmoji(body: HTMLElement): void {
  for (const image of body.querySelectorAll('img.emoji, img.wp-smiley')) {
    const character = cleanLine(image.getAttribute('alt') ?? '');
    if (character !== '') image.replaceWith(character);
  }
}

/** Rewrites every picture of a body. A picture that can't be shown becomes a link to it, or is removed. */
export async function preparePictures(body: HTMLElement, context: BodyContext): Promise<void> {
  const images = [...body.querySelectorAll('img')];
  for (let index = 0; index < images.length; index += measuredAtOnce) {
    await Promise.all(images.slice(index, index + measuredAtOnce).map((image) => preparePicture(image, context)));
  }
}

async function preparePicture(image: Element, context: BodyContext): Promise<void> {
  const source = largestSource(image, context.base);
  if (!source) {
    figureAround(image).remove();
    return;
  }
  const [shownWidth, shownHeight] = [dimension(image, 'width'), dimension(image, 'height')];
  let stated: { width: number; height: number } | null = null;
  if (shownWidth && shownHeight) {
    const width = source.width ?? shownWidth;
    stated = { width, height: Math.max(1, Math.round((width * shownHeight) / shownWidth)) };
  }
  const foreign = new URL(source.url).host !== new URL(context.wordpress).host;
  const measured = stated && !foreign ? null : await context.measure(source.url);
  // An allowed host that once fails to answer must not cost a story its pictures.
  const size = measured ?? (isAllowedPicture(source.url, context) ? stated : null);
  // The image path doesn't serve every host or every file type; a link is better than a broken picture.
  if (!size) {
    replacePictureWithLink(image, source.url);
    return;
  }
  const alt = cleanLine(image.getAttribute('alt') ?? '');
  const title = image.getAttribute('title');
  for (const { name } of [...image.attributes]) if (name !== 'class' && name !== 'id') image.removeAttribute(name);
  image.setAttribute('src', imageUrl(source.url, 1080));
  image.setAttribute('srcset', imageSrcset(source.url, size.width, 384));
  image.setAttribute('sizes', sizes);
  image.setAttribute('width', String(size.width));
  image.setAttribute('height', String(size.height));
  image.setAttribute('loading', 'lazy');
  image.setAttribute('decoding', 'async');
  image.setAttribute('alt', alt);
  if (title) image.setAttribute('title', cleanLine(title));
  unlinkFromFile(image, context.base);
}

/** Whether the picture service serves pictures of this host: WordPress's, or one of IMAGE_HOSTS. */
export function isAllowedPicture(
  url: string,
  { wordpress, mediaHosts = [] }: Pick<BodyContext, 'wordpress' | 'mediaHosts'>,
): boolean {
  const { host } = new URL(url);
  return host === new URL(wordpress).host || mediaHosts.includes(host);
}

/** WordPress may link a picture to its own file, which the page already shows. */
function unlinkFromFile(image: Element, base: string): void {
  const parent = image.parentElement;
  if (parent?.localName !== 'a' || parent.childNodes.length !== 1) return;
  const href = webAddress(parent.getAttribute('href'), base);
  if (href && /\.(?:jpe?g|png|webp|avif|gif)$/iu.test(href.pathname)) unwrap(parent);
}

function replacePictureWithLink(image: Element, url: string): void {
  const text = cleanLine(image.getAttribute('alt') ?? '') || 'Picture';
  const around = image.closest('a');
  if (around) {
    if (cleanLine(around.textContent ?? '') === '') mediaLinks.add(around);
    image.replaceWith(text);
    return;
  }
  const link = create(image.ownerDocument, 'a', { href: url, rel: 'noopener noreferrer' }, text);
  mediaLinks.add(link);
  image.replaceWith(link);
}

// Audio and video in a body: the browser's own players for files from WordPress and allowed hosts, links for others.

interface PlayerSource {
  readonly url: string;
  readonly type: string;
}

const trackKinds: readonly string[] = ['captions', 'subtitles', 'descriptions', 'chapters'];
const mediaType = /^(?:audio|video|application)\/[\w.+-]+(?:\s*;\s*codecs=(?:"[\w., -]+"|[\w.,-]+))?$/u;

/** Rewrites every player of a body. */
export async function preparePlayers(body: HTMLElement, context: BodyContext): Promise<void> {
  // From the last to the first, as frames.
  for (const player of [...body.querySelectorAll('video, audio')].reverse()) await preparePlayer(player, context);
  for (const stray of body.querySelectorAll('source, track')) {
    if (!stray.parentElement?.matches('video, audio')) stray.remove();
  }
}

/** An address that a page may load media from: WordPress's own, or a host that the operator allows. */
export function allowedMedia(
  address: string | null,
  context: Pick<BodyContext, 'wordpress' | 'base' | 'mediaHosts'>,
): string | null {
  const url = webAddress(address, context.base);
  return url?.origin === new URL(context.wordpress).origin ? url.href : addressOn(context.mediaHosts ?? [], url);
}

async function preparePlayer(player: Element, context: BodyContext): Promise<void> {
  const isVideo = player.localName === 'video';
  const elements = [player, ...player.querySelectorAll('source')];
  const sources = elements.flatMap((element): PlayerSource[] => {
    const url = allowedMedia(element.getAttribute('src'), context);
    const type = element === player ? '' : (element.getAttribute('type') ?? '').trim();
    return url === null ? [] : [{ url, type: mediaType.test(type) ? type : '' }];
  });
  const [first] = sources;
  if (!first) {
    const address = elements.map((element) => element.getAttribute('src')).find(Boolean);
    replaceWithLink(player, webAddress(address, context.base), isVideo ? 'Watch the video' : 'Listen to the recording');
    return;
  }
  const document = player.ownerDocument;
  const clean = document.createElement(player.localName);
  clean.setAttribute('controls', '');
  const poster = isVideo ? await posterOf(player, context) : null;
  // A player loads nothing before the reader presses play, except a video without a poster, which would be a black box.
  clean.setAttribute('preload', isVideo && poster === null ? 'metadata' : 'none');
  if (poster !== null) clean.setAttribute('poster', poster);
  for (const side of isVideo ? ['width', 'height'] : []) {
    const value = dimension(player, side);
    if (value) clean.setAttribute(side, String(value));
  }
  if (player.hasAttribute('loop')) clean.setAttribute('loop', '');
  const caption = player.closest('figure')?.querySelector('figcaption')?.textContent ?? '';
  const name = cleanLine(player.getAttribute('aria-label') ?? '') || cleanLine(caption);
  clean.setAttribute('aria-label', name || (isVideo ? 'Video' : 'Audio'));
  if (sources.length === 1) clean.setAttribute('src', first.url);
  else
    for (const { url, type } of sources) clean.append(create(document, 'source', { src: url, ...(type && { type }) }));
  for (const track of player.querySelectorAll('track')) {
    const element = await trackElement(track, context);
    if (element) clean.append(element);
  }
  if (isVideo || player.closest('figure')) return player.replaceWith(clean);
  // The page's buttons and keys belong to the player of their figure, which the shortcode `[audio]` doesn't have.
  const figure = document.createElement('figure');
  figure.append(clean);
  replaceWithBlock(player, figure);
}

async function posterOf(player: Element, context: BodyContext): Promise<string | null> {
  const url = webAddress(player.getAttribute('poster'), context.base);
  if (!url || !(await context.measure(url.href))) return null;
  return imageUrl(url.href, 1080);
}

/**
 * Captions are inlined in the page. Browsers accept captions from another origin only with CORS headers, which uploads don't have, on
 * the captions and on the film.
 */
async function trackElement(track: Element, context: BodyContext): Promise<Element | null> {
  const url = allowedMedia(track.getAttribute('src'), context);
  const text = url === null ? null : await context.captions?.(url);
  if (!text) return null;
  const clean = track.ownerDocument.createElement('track');
  const kind = (track.getAttribute('kind') ?? '').toLowerCase();
  clean.setAttribute('kind', trackKinds.includes(kind) ? kind : 'subtitles');
  clean.setAttribute('src', `data:text/vtt;base64,${Buffer.from(text).toString('base64')}`);
  const language = /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/iu.exec(track.getAttribute('srclang') ?? '')?.[0];
  if (language) clean.setAttribute('srclang', language);
  const label = cleanLine(track.getAttribute('label') ?? '');
  clean.setAttribute('label', label || language || 'Captions');
  if (track.hasAttribute('default')) clean.setAttribute('default', '');
  return clean;
}
