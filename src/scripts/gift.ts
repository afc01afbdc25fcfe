/** The button by which a subscriber gives an article away: the link is shared where the device can, copied where it cannot. */
import { giveArticle } from '../lib/access/client.ts';

const box = document.querySelector<HTMLElement>('[data-gift]');
const button = box?.querySelector('button');
const out = box?.querySelector<HTMLElement>('.out');

async function handOn(url: string, title: string): Promise<string> {
  try {
    if (navigator.share && matchMedia('(pointer: coarse)').matches) {
      await navigator.share({ url, title });
      return url;
    }
    await navigator.clipboard.writeText(url);
    return `The link is copied: ${url}`;
  } catch {
    // Refused, or put away: there it stands to be copied by hand.
    return url;
  }
}

if (box && button && out) {
  box.hidden = false;
  button.addEventListener('click', async () => {
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true';
    out.textContent = 'One moment…';
    const answer = await giveArticle(Number(box.dataset.gift));
    out.textContent = answer.ok
      ? await handOn(answer.value.url, box.dataset.title ?? '')
      : (answer.message ?? 'Something went wrong. Please try again.');
    button.ariaDisabled = 'false';
  });
}
