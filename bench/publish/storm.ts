/** Many edits at the same moment, as when an agency's stories are imported: how long until all are fresh, and the longest pause. */
import type { Helper } from '../support/processes.ts';
import type { BenchSite } from '../support/site.ts';
import type { Kind, Plan } from './plan.ts';

export interface Storm {
  readonly edits: number;
  /** Milliseconds until the last webhook was answered. */
  readonly took: number;
  /** The longest time, milliseconds, for which the site's main thread was busy. */
  readonly pause: number;
}

/** Changes headlines and delivers all webhooks at once. */
export async function measureStorm(
  { wordpress, site }: { readonly wordpress: Helper; readonly site: BenchSite },
  edits: number,
  plan: (kind: Kind) => Plan,
): Promise<Storm> {
  const plans = Array.from({ length: edits }, () => plan('headline'));
  for (const { edit } of plans) await wordpress.ask({ edit });
  // Reading the metric resets it.
  await site.metrics('nodejs_eventloop_lag_max_seconds');
  const began = performance.now();
  await Promise.all(plans.map(({ hook }) => site.deliver(hook)));
  const took = performance.now() - began;
  const [pause] = await site.metrics('nodejs_eventloop_lag_max_seconds');
  return { edits, took, pause: pause * 1000 };
}
