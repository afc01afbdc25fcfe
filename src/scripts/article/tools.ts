/** The tools of a story, by the name in their button's `data-tool`. Loaded at the first click. */
import { type GiftsLeft, giftsLeft, giveArticle } from '../../lib/access/client.ts';
import { confirmPage, unconfirmed } from '../../lib/accounts/model.ts';
import { failureText, textSizeName, toolMessages } from '../../lib/article/tools.ts';
import { writeStored } from '../../lib/browser-storage.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { saveArticle, unsaveArticle } from '../../lib/saved/client.ts';
import { $session, refreshSession } from '../../stores/session.ts';
import { openAuthPopup } from '../../stores/ui.ts';
import { showSaved, showStatus, storyOf } from './story.ts';

/** @param own whether the device's share sheet opens instead of our menu */
export async function runTool(tool: HTMLButtonElement, own: boolean): Promise<void> {
  switch (tool.dataset.tool) {
    case 'share':
      return share(tool, own);
    case 'copy':
      return copy();
    case 'gift':
      return makeGiftLink(tool);
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
  const menu = tool.popoverTargetElement as HTMLElement;
  if (own) {
    // A browser refuses when the click is too long ago. A reader who closed the sheet, or still sees it, wants no menu.
    return navigator.share({ url, title }).catch(({ name }) => {
      if (name === 'NotAllowedError') menu.showPopover();
    });
  }
  const gift = menu.querySelector<HTMLElement>('[data-gift-left]');
  if (gift?.offsetParent) await showGiftsLeft(gift);
}

async function copy(): Promise<void> {
  const { url } = storyOf();
  document.querySelector<HTMLElement>('#share-menu')?.hidePopover();
  try {
    await navigator.clipboard.writeText(url);
    showStatus(toolMessages.copied);
  } catch {
    showStatus(toolMessages.copyThis(url));
  }
}

const html = document.documentElement;

/** Marks the current size in the menu. */
function markSize(): void {
  for (const each of document.querySelectorAll<HTMLButtonElement>('[data-tool="size"]'))
    each.ariaPressed = String(each.value === (html.dataset.textSize ?? ''));
}

function setSize(size: string): void {
  if (size === '') delete html.dataset.textSize;
  else html.dataset.textSize = size;
  // Without storage the size applies until the reader leaves the page.
  writeStored(textSizeName, size || null);
  markSize();
}

let busy = false;

/** Saves the story for later, or removes it. A reader who is not signed in signs in first. */
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
  showStatus(answer.ok ? toolMessages.removed : failureText(answer.message));
}

/** @param again whether a reader who turns out to be signed in saves once more */
async function save(button: HTMLButtonElement, again = true): Promise<void> {
  const answer = await saveArticle(storyOf().id);
  if (answer.ok) {
    showSaved(true);
    showStatus(toolMessages.saved);
  } else if (answer.status === 401 && again) await askToSignIn(button);
  else showStatus(failureText(answer.message));
}

/** Asks the reader to sign in, then saves. The server also remembers the story, for a sign-in by a mailed link in another tab. */
async function askToSignIn(button: HTMLButtonElement): Promise<void> {
  if (!document.querySelector('[data-popups]')) {
    button.form?.submit();
    return;
  }
  // The session may have ended elsewhere; the popup closes for a reader whom this page takes for signed in.
  await refreshSession();
  if ($session.get().isAuthenticated) return save(button, false);
  openAuthPopup({ heading: toolMessages.signInToSave });
  const stop = $session.listen(({ isAuthenticated }) => {
    if (!isAuthenticated) return;
    stop();
    void save(button);
  });
}

const giftsLeftText = ({ left, most }: Pick<GiftsLeft, 'left' | 'most'>): string => toolMessages.giftsLeft(left, most);

/** Shows how many links are left; if the call fails, the text stays as it is. */
async function showGiftsLeft(place: HTMLElement): Promise<void> {
  const answer = await giftsLeft();
  if (answer.ok) place.textContent = giftsLeftText(answer.value);
}

/** Creates a link that gives the story away, for the share menu or the line below the story. */
export async function makeGiftLink(button: HTMLButtonElement): Promise<void> {
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
  const shared = await shareLink(answer.value.url);
  out.textContent = `${shared} ${giftsLeftText(answer.value)}`;
}

/** Shares the link if the device can, else copies it. @returns the text to show, which always contains the link */
async function shareLink(url: string): Promise<string> {
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
