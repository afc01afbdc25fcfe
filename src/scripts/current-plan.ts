/**
 * Marks the plan that a paying reader has among all that are offered. The tier is known at the first paint; how it is paid only
 * the server knows. Where it does not say, the page stays as it is.
 */
import { readVisitor } from '../lib/accounts/visitor.ts';
import { subscription as fetchSubscription } from '../lib/billing/client.ts';
import { isLive } from '../lib/billing/status.ts';

/** Hint cookies of readers who pay for nothing. */
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
