/**
 * Customers whom the publisher has deleted in Stripe's dashboard, or who are unknown to another account of Stripe's: their readers get a new
 * one with the next purchase.
 */
import type { Session } from '../../accounts/service.ts';
import type { BillingDependencies } from './dependencies.ts';
import { ifMissing, isMissing } from './stripe.server.ts';

/** Runs a call, and runs it again with a new customer if Stripe doesn't know the reader's any more. */
export async function withCustomerAtStripe<T>(
  dependencies: BillingDependencies,
  session: Session,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissing(error) || !(await dropDeleted(dependencies, session))) throw error;
    return work();
  }
}

/** @returns whether the reader's customer was deleted at Stripe; the site has forgotten it then */
async function dropDeleted(
  { stripe, database, customers, promotions, subscriptions, log }: BillingDependencies,
  { userId, email }: Session,
): Promise<boolean> {
  const customer = await customers.find(userId);
  if (customer === null) return false;
  const found = await stripe.customers.retrieve(customer).catch(ifMissing(null));
  if (found && !found.deleted) return false;
  const states = (await subscriptions.ofUser(userId)).map(({ state }) => state);
  await database.transaction(async (tx) => {
    // The new customer's subscriptions won't tell which promotions the reader has had.
    await promotions.keep(tx, email, states);
    await customers.drop(tx, userId, customer);
  });
  log.warn({ customer }, 'A customer was deleted at Stripe; the reader gets a new one with the next purchase');
  return true;
}
