/** Gives a story away: from the menu to share by, and from the line beneath the story. */
import { giftsLeft, giveArticle } from '../../lib/access/client.ts';
import type { GiftsLeft } from '../../lib/access/schema.ts';
import { confirmPage, unconfirmed } from '../../lib/accounts/forms.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { storyOf, troubleWords } from './bar.ts';

const leftWords = ({ left, most }: Pick<GiftsLeft, 'left' | 'most'>): string =>
  left === 0
    ? `You have given away all ${most} stories of these thirty days.`
    : `${left} of ${most} left for these thirty days.`;

/** Says how many links are left. Where it cannot be found out, what stands there is true anyway. */
export async function sayLeft(place: HTMLElement): Promise<void> {
  const answer = await giftsLeft();
  if (answer.ok) place.textContent = leftWords(answer.value);
}

export async function give(button: HTMLButtonElement): Promise<void> {
  const out = button.closest('[data-gift]')?.querySelector<HTMLElement>('[data-gift-out]');
  if (!out || button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  out.textContent = 'One moment…';
  const answer = await giveArticle(storyOf().id);
  button.ariaDisabled = 'false';
  if (!answer.ok) {
    out.textContent = troubleWords(answer.message);
    if (hasCode(answer, unconfirmed)) {
      const link = document.createElement('a');
      link.href = confirmPage(location.pathname);
      link.textContent = 'Send the confirmation email again';
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
    return `The link is copied: ${url}`;
  } catch {
    return url;
  }
}
