/** Audio and video in a body: players with the browser's own controls, from WordPress's uploads and allowed hosts; links elsewhere. */
import { imageUrl } from '../../lib/images/url.ts';
import { isLoopback } from '../../lib/loopback.ts';
import type { BodyContext } from './body-context.server.ts';
import { replaceWithLink } from './body-embeds.server.ts';
import { webAddress } from './embeds.ts';
import { cleanLine } from './plain-text.ts';

interface Source {
  readonly url: string;
  readonly type: string;
}

const kinds: readonly string[] = ['captions', 'subtitles', 'descriptions', 'chapters'];
const mediaType = /^(?:audio|video|application)\/[\w.+-]+(?:\s*;\s*codecs=(?:"[\w., -]+"|[\w.,-]+))?$/u;

/** Rewrites every player of a body. */
export async function settlePlayers(body: HTMLElement, context: BodyContext): Promise<void> {
  for (const player of [...body.querySelectorAll('video, audio')]) await settle(player, context);
  for (const stray of body.querySelectorAll('source, track')) {
    if (!stray.parentElement?.matches('video, audio')) stray.remove();
  }
}

/** An address from which a page may load media: WordPress's own or a host that the operator has allowed. */
function allowedMedia(address: string | null, context: BodyContext): string | null {
  const url = address ? webAddress(address, context.base) : null;
  if (!url) return null;
  if (url.origin === new URL(context.wordpress).origin) return url.href;
  const hosts = context.mediaHosts ?? [];
  if (!hosts.includes(url.host) && !hosts.includes(url.hostname)) return null;
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) url.protocol = 'https:';
  return url.href;
}

async function settle(player: Element, context: BodyContext): Promise<void> {
  const isVideo = player.localName === 'video';
  const given = [player, ...player.querySelectorAll('source')];
  const sources = given.flatMap((element): Source[] => {
    const url = allowedMedia(element.getAttribute('src'), context);
    const type = element === player ? '' : (element.getAttribute('type') ?? '').trim();
    return url === null ? [] : [{ url, type: mediaType.test(type) ? type : '' }];
  });
  const [first] = sources;
  if (!first) {
    const address = given.map((element) => element.getAttribute('src')).find(Boolean) ?? '';
    replaceWithLink(
      player,
      address === '' ? null : (webAddress(address, context.base)?.href ?? null),
      isVideo ? 'Watch the video' : 'Listen to the recording',
    );
    return;
  }
  const document = player.ownerDocument;
  const made = document.createElement(player.localName);
  made.setAttribute('controls', '');
  const poster = isVideo ? await posterOf(player, context) : null;
  // Nothing is fetched for readers who do not press play, except where the player would be a black box.
  made.setAttribute('preload', isVideo && poster === null ? 'metadata' : 'none');
  if (poster !== null) made.setAttribute('poster', poster);
  for (const name of isVideo ? ['width', 'height'] : []) {
    const value = /^\d{1,5}$/u.exec(player.getAttribute(name) ?? '')?.[0];
    if (value) made.setAttribute(name, value);
  }
  if (player.hasAttribute('loop')) made.setAttribute('loop', '');
  const words = player.closest('figure')?.querySelector('figcaption')?.textContent ?? '';
  const name = cleanLine(player.getAttribute('aria-label') ?? '') || cleanLine(words);
  made.setAttribute('aria-label', name || (isVideo ? 'Video' : 'Audio'));
  if (sources.length === 1) made.setAttribute('src', first.url);
  else for (const source of sources) made.append(sourceElement(document, source));
  for (const track of player.querySelectorAll('track')) {
    const kept = await trackElement(track, context);
    if (kept) made.append(kept);
  }
  player.replaceWith(made);
}

function sourceElement(document: Document, { url, type }: Source): Element {
  const element = document.createElement('source');
  element.setAttribute('src', url);
  if (type) element.setAttribute('type', type);
  return element;
}

async function posterOf(player: Element, context: BodyContext): Promise<string | null> {
  const poster = player.getAttribute('poster');
  const url = poster ? webAddress(poster, context.base) : null;
  if (!url || !(await context.measure(url.href))) return null;
  return imageUrl(url.href, 1080);
}

/**
 * Captions come with the page. A browser takes those of another origin only with headers that uploads do not have, and then only if
 * the film has them too.
 */
async function trackElement(track: Element, context: BodyContext): Promise<Element | null> {
  const url = allowedMedia(track.getAttribute('src'), context);
  const text = url === null ? null : await context.captions?.(url);
  if (!text) return null;
  const made = track.ownerDocument.createElement('track');
  const kind = (track.getAttribute('kind') ?? '').toLowerCase();
  made.setAttribute('kind', kinds.includes(kind) ? kind : 'subtitles');
  made.setAttribute('src', `data:text/vtt;base64,${Buffer.from(text).toString('base64')}`);
  const language = /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/iu.exec(track.getAttribute('srclang') ?? '')?.[0];
  if (language) made.setAttribute('srclang', language);
  const label = cleanLine(track.getAttribute('label') ?? '');
  made.setAttribute('label', label || language || 'Captions');
  if (track.hasAttribute('default')) made.setAttribute('default', '');
  return made;
}
