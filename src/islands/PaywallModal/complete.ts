/** After the payment (spec section 4): the session refreshes, the metadata goes, and the reader goes on. */
import { geo } from '../../lib/accounts/client.ts';
import { saveMetadata } from '../../lib/billing/client.ts';
import type { Subscription } from '../../lib/billing/wire.ts';
import { $printPromoLastSeen } from '../../stores/persisted.ts';
import { refreshSession } from '../../stores/session.ts';
import { closePaywall } from '../../stores/ui.ts';
import { metadataOf } from './metadata.ts';
import { fetchArticle, isWalled } from './open-article.ts';

/** Milliseconds that a reader may be kept for what they do not see. */
const most = 3000;

const nextFrame = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
const atMost = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, most))]);

/**
 * Closes the paywall and leads on: the article of this page opens in place, from anywhere else it is /thankyou.
 *
 * @param kind of the quote that was paid
 */
export async function complete(subscription: Subscription | null, email: string | null, kind: string): Promise<void> {
  // Who has just paid is not asked for more on the same day.
  if (kind === 'new') $printPromoLastSeen.set(Date.now());
  const [article] = await Promise.all([
    isWalled() && kind !== 'downgrade'
      ? refreshSession().then(() => fetchArticle())
      : refreshSession().then(() => null),
    subscription && kind === 'new' ? atMost(note(subscription.id, email)) : null,
  ]);
  closePaywall();
  if (!article) return location.assign(kind === 'downgrade' ? '/dashboard/account' : '/thankyou');
  // The sheet gives the focus back first.
  await nextFrame();
  article();
}

async function note(subscriptionId: string, email: string | null): Promise<void> {
  const place = await geo();
  await saveMetadata(subscriptionId, metadataOf(new URL(location.href), email, window.innerWidth, place));
}
