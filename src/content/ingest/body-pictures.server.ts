/** Pictures in a body: through the image path, with known dimensions, loaded when they come near. */
import { imageSrcset, imageUrl } from '../../lib/images/url.ts';
import { type BodyContext, unwrap } from './body-context.server.ts';
import { webAddress } from './embeds.ts';
import { cleanLine } from './plain-text.ts';

const sizes = '(min-width: 48rem) 42rem, 100vw';
/** Pictures of one body that are measured at once. */
const atOnce = 4;

interface Source {
  readonly url: string;
  /** Width of the file at `url`, when the markup says so. */
  readonly width: number | null;
}

const dimension = (element: Element, name: string): number | null => {
  const value = Number(/^\s*(\d{1,5})(?:px)?\s*$/u.exec(element.getAttribute(name) ?? '')?.[1] ?? 0);
  return value > 0 ? value : null;
};

const isVector = (url: URL): boolean => /\.svgz?$/iu.test(url.pathname);

/** The largest file that WordPress offers for a picture: its own `srcset` names the original, `src` often a smaller copy. */
function largest(image: Element, base: string): Source | null {
  const own = webAddress(image.getAttribute('src') ?? '', base);
  if (!own || isVector(own)) return null;
  let best: Source = { url: own.href, width: null };
  for (const candidate of (image.getAttribute('srcset') ?? '').split(/,\s+/u)) {
    const [, address = '', width = ''] = /^(\S+)\s+(\d{1,5})w$/u.exec(candidate.trim()) ?? [];
    const url = address ? webAddress(address, base) : null;
    if (url && url.host === own.host && Number(width) > (best.width ?? 0))
      best = { url: url.href, width: Number(width) };
  }
  return best;
}

/** Rewrites every picture of a body. One that cannot be shown becomes a link to it, or goes. */
export async function settlePictures(body: HTMLElement, context: BodyContext): Promise<void> {
  const images = [...body.querySelectorAll('img')];
  for (let index = 0; index < images.length; index += atOnce) {
    await Promise.all(images.slice(index, index + atOnce).map((image) => settle(image, context)));
  }
}

async function settle(image: Element, context: BodyContext): Promise<void> {
  const source = largest(image, context.base);
  if (!source) {
    drop(image);
    return;
  }
  const [shownWidth, shownHeight] = [dimension(image, 'width'), dimension(image, 'height')];
  let size: { width: number; height: number } | null = null;
  if (shownWidth && shownHeight) {
    const width = source.width ?? shownWidth;
    size = { width, height: Math.max(1, Math.round((width * shownHeight) / shownWidth)) };
  }
  const foreign = new URL(source.url).host !== new URL(context.wordpress).host;
  if (!size || foreign) {
    const measured = await context.measure(source.url);
    // The image path does not serve every host, and not everything is a picture; a link is better than a broken one.
    if (!measured) {
      link(image, source.url);
      return;
    }
    size = measured;
  }
  const alt = cleanLine(image.getAttribute('alt') ?? '');
  const title = image.getAttribute('title');
  for (const { name } of [...image.attributes]) if (name !== 'class' && name !== 'id') image.removeAttribute(name);
  image.setAttribute('src', imageUrl(source.url, 1080));
  image.setAttribute('srcset', imageSrcset(source.url, size?.width ?? null, 384));
  image.setAttribute('sizes', sizes);
  if (size) {
    image.setAttribute('width', String(size.width));
    image.setAttribute('height', String(size.height));
  }
  image.setAttribute('loading', 'lazy');
  image.setAttribute('decoding', 'async');
  image.setAttribute('alt', alt);
  if (title) image.setAttribute('title', cleanLine(title));
  unlinkFromFile(image, context.base);
}

/** WordPress may link a picture to its own file, which the page already shows. */
function unlinkFromFile(image: Element, base: string): void {
  const parent = image.parentElement;
  if (parent?.localName !== 'a' || parent.childNodes.length !== 1) return;
  const href = webAddress(parent.getAttribute('href') ?? '', base);
  if (href && /\.(?:jpe?g|png|webp|avif|gif)$/iu.test(href.pathname)) unwrap(parent);
}

function drop(image: Element): void {
  const figure = image.closest('figure');
  if (figure && figure.querySelectorAll('img, table, [data-embed-src]').length === 1) figure.remove();
  else image.remove();
}

function link(image: Element, url: string): void {
  const alt = cleanLine(image.getAttribute('alt') ?? '');
  if (image.closest('a')) {
    image.replaceWith(image.ownerDocument.createTextNode(alt || 'Picture'));
    return;
  }
  const anchor = image.ownerDocument.createElement('a');
  anchor.setAttribute('href', url);
  anchor.setAttribute('rel', 'noopener noreferrer');
  anchor.textContent = alt || 'Picture';
  image.replaceWith(anchor);
}
