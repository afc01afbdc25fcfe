/** Frames that an article may contain, with the addresses of their players and originals. */
import { isLoopback } from '../../lib/http/network.ts';

export interface Embed {
  /** Lower-case name for a CSS class. */
  readonly kind: string;
  /** The provider's name as readers know it. */
  readonly provider: string;
  /** Address of the frame. */
  readonly src: string;
  /** Address of the original page. */
  readonly href: string;
  readonly verb: 'Watch' | 'Listen' | 'Open';
}

const youtubeHosts = /^(?:www\.|m\.|music\.)?(?:youtube\.com|youtube-nocookie\.com)$/u;

/** YouTube's id of a video (eleven characters) from any form of link; `null` when there is none. */
export function youtubeId(address: string): string | null {
  let url: URL;
  try {
    url = new URL(address.trim());
  } catch {
    return null;
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  let id: string | null | undefined = null;
  if (url.hostname === 'youtu.be') id = url.pathname.split('/')[1];
  else if (youtubeHosts.test(url.hostname)) {
    const [, kind, rest] = url.pathname.split('/');
    id = ['embed', 'shorts', 'live', 'v'].includes(kind ?? '') ? rest : url.searchParams.get('v');
  }
  return id && /^[\w-]{11}$/u.test(id) ? id : null;
}

const youtube = (id: string): Embed => ({
  kind: 'youtube',
  provider: 'YouTube',
  src: `https://www.youtube-nocookie.com/embed/${id}`,
  href: `https://www.youtube.com/watch?v=${id}`,
  verb: 'Watch',
});

interface Known {
  readonly kind: string;
  readonly provider: string;
  readonly verb: Embed['verb'];
  readonly original?: (url: URL) => string | null;
}

const known: Readonly<Record<string, Known>> = {
  'player.vimeo.com': {
    kind: 'vimeo',
    provider: 'Vimeo',
    verb: 'Watch',
    original: (url) => {
      const id = /^\/video\/(\d+)/u.exec(url.pathname)?.[1];
      return id ? `https://vimeo.com/${id}` : null;
    },
  },
  'open.spotify.com': {
    kind: 'spotify',
    provider: 'Spotify',
    verb: 'Listen',
    original: (url) => `https://open.spotify.com${url.pathname.replace(/^\/embed/u, '')}`,
  },
  'w.soundcloud.com': {
    kind: 'soundcloud',
    provider: 'SoundCloud',
    verb: 'Listen',
    original: (url) => {
      const original = url.searchParams.get('url') ?? '';
      return original.startsWith('https://') ? original : null;
    },
  },
  'datawrapper.dwcdn.net': { kind: 'datawrapper', provider: 'Datawrapper', verb: 'Open' },
  'public.flourish.studio': { kind: 'flourish', provider: 'Flourish', verb: 'Open' },
};

/** A web address without credentials; `null` for anything else. */
export function webAddress(address: string, base?: string): URL | null {
  let url: URL;
  try {
    url = new URL(address.trim(), base);
  } catch {
    return null;
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  url.username = '';
  url.password = '';
  return url;
}

/** Address for a frame, if its host is one of `frameHosts`; plain http is allowed for localhost alone. */
export function allowedFrame(address: string, frameHosts: readonly string[], base?: string): string | null {
  const url = webAddress(address, base);
  if (!url || !(frameHosts.includes(url.host) || frameHosts.includes(url.hostname))) return null;
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) url.protocol = 'https:';
  return url.href;
}

/** The embed for the address of a frame, or of a page that has a player; `null` when the site may not frame it. */
export function embedOf(address: string, frameHosts: readonly string[], base?: string): Embed | null {
  const url = webAddress(address, base);
  if (!url) return null;
  const id = youtubeId(url.href);
  if (id !== null) return frameHosts.some((host) => youtubeHosts.test(host)) ? youtube(id) : null;
  const vimeo = /^(?:www\.)?vimeo\.com$/u.test(url.hostname) ? /^\/(\d+)/u.exec(url.pathname)?.[1] : undefined;
  const src = allowedFrame(vimeo ? `https://player.vimeo.com/video/${vimeo}` : url.href, frameHosts);
  if (src === null) return null;
  const framed = new URL(src);
  const details = known[framed.hostname] ?? { kind: 'other', provider: framed.hostname, verb: 'Open' as const };
  const { kind, provider, verb } = details;
  return { kind, provider, verb, src, href: details.original?.(framed) ?? src };
}

/** First web address in a piece of markup or text, `''` when there is none (spec section 3, "Crossword"). */
export function firstWebAddress(markup: string): string {
  const decoded = markup.replace(/&(?:amp|#0?38|#x26);/giu, '&').replace(/\\\//gu, '/');
  return /https?:\/\/[^\s"'<>\\]+/iu.exec(decoded)?.[0] ?? '';
}
