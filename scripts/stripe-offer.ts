/**
 * `npm run stripe:offer -- --plan reader-penny --next reader-yearly --days 60 --amount 60`: makes a promotion in the Stripe account whose
 * keys are set, as a price and a Trial Offer, which can't be created in Stripe's dashboard. docs/operations.md, "Payments".
 */
import { openStripe } from '../src/lib/billing/engine/stripe.server.ts';
import { createTrialOffer, type WantedOffer } from '../src/lib/billing/engine/trial-offers.server.ts';
import { checkSettings, readArguments, readSettings } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';

const usage =
  'npm run stripe:offer -- --plan reader-penny --next reader-yearly --days 60 --amount 60 --heading "Read the Sun for a PENNY A DAY" [--subheading "Full dues ($120/year) billed after 60 days"] [--also gbp=60,eur=60]';

export async function run(args: readonly string[]): Promise<number> {
  const wanted = readOffer(args);
  const { stripe: settings } = checkSettings(readSettings());
  if (!settings) throw new Stop('Set STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET first.');
  try {
    const { offer, price, archived } = await createTrialOffer(openStripe(settings), wanted);
    console.log(
      `Made ${offer}: ${wanted.days} days at ${price}, then ${wanted.next}. The site sells it within ten minutes.`,
    );
    if (archived.length > 0) console.log(`Archived the earlier offers of ${wanted.plan}: ${archived.join(', ')}`);
    return 0;
  } catch (error) {
    return throwAsStop(error as Error);
  }
}

/** @throws Stop with how to use it */
export function readOffer(args: readonly string[]): WantedOffer {
  const text = { type: 'string' } as const;
  const options = { plan: text, next: text, days: text, amount: text, heading: text, subheading: text, also: text };
  const { values } = readArguments(args, options, usage);
  const { plan, next, heading, subheading = null, also = '' } = values;
  const others = also.split(',').flatMap((one) => {
    if (one === '') return [];
    const [, currency = '', amount = ''] =
      /^([a-z]{3})=(\d+)$/.exec(one.trim()) ?? refuse(`--also: "${one}" isn't of the form gbp=60`);
    return [[currency, Number(amount)] as const];
  });
  if (!plan || !next || !heading) return refuse('--plan, --next and --heading are needed');
  const [days, amount] = [whole('days', values.days), whole('amount', values.amount)];
  // Stripe's prices have an interval of at most three years.
  if (days < 1 || days > 1095) return refuse('--days: from 1 to 1095');
  return { plan, next, days, amount, others: Object.fromEntries(others), heading, subheading };
}

const refuse = (problem: string): never => {
  throw new Stop(`${problem}\nUsage: ${usage}`);
};

function whole(name: string, text: string | undefined): number {
  return text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : refuse(`--${name}: a whole number is needed`);
}
