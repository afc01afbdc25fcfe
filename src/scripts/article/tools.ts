/** The tools of a story, each by the name in its button's `data-tool`. Fetched when the first one is used. */

import { giftsLeft, giveArticle } from '../../lib/access/client.ts';
import type { GiftsLeft } from '../../lib/access/schema.ts';
import { confirmPage, unconfirmed } from '../../lib/accounts/forms.ts';
import { failureText, toolMessages } from '../../lib/article/messages.ts';
import { textSizeName } from '../../lib/article/text-size.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { saveArticle, unsaveArticle } from '../../lib/saved/client.ts';
import { $session } from '../../stores/session.ts';
import { openAuthPopup } from '../../stores/ui.ts';
import { say, showSaved, storyOf } from './bar.ts';

/** @param own whether the device's own sheet is to be opened in place of our menu */
export async function use(tool: HTMLButtonElement, own: boolean): Promise<void> {
  switch (tool.dataset.tool) {
    case 'share':
      return share(tool, own);
    case 'copy':
      return copy();
    case 'gift':
      return give(tool);
    case 'save':
      return toggleSaved(tool);
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
  if (gift?.offsetParent) await sayLeft(gift);
}

async function copy(): Promise<void> {
  const { url } = storyOf();
  document.querySelector<HTMLElement>('#share-menu')?.hidePopover();
  try {
    await navigator.clipboard.writeText(url);
    say(toolMessages.copied);
  } catch {
    say(toolMessages.copyThis(url));
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

let busy = false;

/** Saves the story for later, or removes it. A reader who is not signed in is asked to, and it is saved then. */
async function toggleSaved(button: HTMLButtonElement): Promise<void> {
  if (busy) return;
  busy = true;
  try {
    if (button.ariaPressed === 'true') await remove();
    else await save(button);
  } finally {
    busy = false;
  }
}

async function remove(): Promise<void> {
  const answer = await unsaveArticle(storyOf().id);
  if (answer.ok) showSaved(false);
  say(answer.ok ? toolMessages.removed : failureText(answer.message));
}

async function save(button: HTMLButtonElement): Promise<void> {
  const answer = await saveArticle(storyOf().id);
  if (answer.ok) {
    showSaved(true);
    say(toolMessages.saved);
  } else if (answer.status === 401) askToSignIn(button);
  else say(failureText(answer.message));
}

/** The site remembers the wish, too, for readers who sign in by a link from a mail, in another tab. */
function askToSignIn(button: HTMLButtonElement): void {
  if (!document.querySelector('[data-popups]')) {
    button.form?.submit();
    return;
  }
  openAuthPopup({ heading: toolMessages.signInToSave });
  const stop = $session.listen(({ isAuthenticated }) => {
    if (!isAuthenticated) return;
    stop();
    void save(button);
  });
}

const leftWords = ({ left, most }: Pick<GiftsLeft, 'left' | 'most'>): string => toolMessages.giftsLeft(left, most);

/** Says how many links are left. Without an answer, the text that is there stays true. */
async function sayLeft(place: HTMLElement): Promise<void> {
  const answer = await giftsLeft();
  if (answer.ok) place.textContent = leftWords(answer.value);
}

/** Makes a link that gives the story away, from the share menu or from the line beneath the story. */
export async function give(button: HTMLButtonElement): Promise<void> {
  const out = button.closest('[data-gift]')?.querySelector<HTMLElement>('[data-gift-out]');
  if (!out || button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  out.textContent = toolMessages.giftBusy;
  const answer = await giveArticle(storyOf().id);
  button.ariaDisabled = 'false';
  if (!answer.ok) {
    out.textContent = failureText(answer.message);
    if (hasCode(answer, unconfirmed)) {
      const link = document.createElement('a');
      link.href = confirmPage(location.pathname);
      link.textContent = toolMessages.confirmAgain;
      out.append(' ', link);
    }
    return;
  }
  const words = await handOn(answer.value.url);
  out.textContent = `${words} ${leftWords(answer.value)}`;
}

/** Shared where the device can, copied where it cannot; in any case it stands there to be copied by hand. */
async function handOn(url: string): Promise<string> {
  try {
    if ('share' in navigator && matchMedia('(pointer: coarse)').matches) {
      await navigator.share({ url, title: storyOf().title });
      return url;
    }
    await navigator.clipboard.writeText(url);
    return toolMessages.giftCopied(url);
  } catch {
    return url;
  }
}
