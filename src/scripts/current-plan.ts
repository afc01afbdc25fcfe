/**
 * Marks the plan of a paying reader among those on sale. Styles know the tier at first paint; the billing interval comes from the
 * server. Without an answer the page stays as it is.
 */
import { readVisitor } from '../lib/accounts/visitor.ts';
import { subscription as fetchSubscription } from '../lib/billing/client.ts';
import { isLive } from '../lib/billing/status.ts';

/** Hint cookies of readers who don't pay. */
const free = [null, 'registered'];

async function mark(): Promise<void> {
  const answer = await fetchSubscription();
  const subscription = answer.ok ? answer.value?.subscription : null;
  if (!subscription || !isLive(subscription)) return;
  for (const plan of document.querySelectorAll<HTMLElement>('[data-plan]')) {
    plan.toggleAttribute('data-current', plan.dataset.plan?.split(' ').includes(subscription.planId));
  }
  document.documentElement.dataset.planKnown = '';
}

if (!free.includes(readVisitor(document.cookie))) void mark();
