/** A subscription as the account service words it (vendors.md 1.12). */
import type { Subscription } from './wire.ts';

export function zephrSubscription(one: Subscription): Readonly<Record<string, unknown>> {
  const { productId } = one;
  return {
    externalId: one.id,
    managedBy: 'STRIPE',
    billingFrequency: 1,
    billingFrequencyUnit: one.interval.toUpperCase(),
    blaizeProduct: { id: productId, label: one.planName, description: '', tenantId: '', subTenantId: '' },
    currencyCode: one.currency.toUpperCase(),
    discountsApplied: one.price < one.preDiscountPrice,
    ended: one.status === 'canceled',
    ends: one.cancelAtPeriodEnd || one.status === 'canceled' ? one.paidUntil : null,
    multiphasePlan: false,
    nextBillingTime: one.nextBillingDate,
    paidThroughDate: one.paidUntil,
    planId: one.planId,
    planName: one.planName,
    preDiscountPrice: one.preDiscountPrice,
    state: one.status.toUpperCase(),
    taxRates: [],
    transactionRecords: [],
  };
}
