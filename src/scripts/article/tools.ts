/** The tools of a story, each by the name in its button's `data-tool`. Fetched when the first one is used. */
import { textSizeName } from '../../lib/article/text-size.ts';
import { say, storyOf } from './bar.ts';

/** @param own whether the device's own sheet is to be opened in place of our menu */
export async function use(tool: HTMLButtonElement, own: boolean): Promise<void> {
  switch (tool.dataset.tool) {
    case 'share':
      return share(tool, own);
    case 'copy':
      return copy();
    case 'gift':
      return (await import('./gift.ts')).give(tool);
    case 'save':
      return (await import('./save.ts')).toggleSaved(tool);
    case 'listen':
      return (await import('./listen.ts')).listen();
    case 'sizes':
      return markSize();
    case 'size':
      return setSize(tool.value);
    case 'print':
      return print();
  }
}

async function share(tool: HTMLButtonElement, own: boolean): Promise<void> {
  const { url, title } = storyOf();
  if (own) {
    // Put away, or refused: then nothing is to be said.
    return navigator.share({ url, title }).catch(() => {});
  }
  const gift = (tool.popoverTargetElement as HTMLElement).querySelector<HTMLElement>('[data-gift-left]');
  if (gift?.offsetParent) await (await import('./gift.ts')).sayLeft(gift);
}

async function copy(): Promise<void> {
  const { url } = storyOf();
  document.querySelector<HTMLElement>('#share-menu')?.hidePopover();
  try {
    await navigator.clipboard.writeText(url);
    say('The link is copied.');
  } catch {
    say(`Copy this link: ${url}`);
  }
}

const html = document.documentElement;

/** Says in the menu which size is set. */
function markSize(): void {
  for (const each of document.querySelectorAll<HTMLButtonElement>('[data-tool="size"]'))
    each.ariaPressed = String(each.value === (html.dataset.textSize ?? ''));
}

function setSize(size: string): void {
  if (size === '') delete html.dataset.textSize;
  else html.dataset.textSize = size;
  try {
    if (size === '') localStorage.removeItem(textSizeName);
    else localStorage.setItem(textSizeName, size);
  } catch {
    // It lasts as long as the page.
  }
  markSize();
}
