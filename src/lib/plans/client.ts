/** Calls that the pages of plans make about the reader who is signed in (spec section 7, "Checkout"). */

import type { Shipping, ShippingAnswer, SubscriptionAnswer } from '../billing/wire.ts';
import { type Answer, ask } from '../http/ask.ts';

/** What this reader subscribes to; 401 for who is not signed in. */
export const mySubscription = (): Promise<Answer<SubscriptionAnswer>> => ask('/api/v1/me/subscription');

/** Saves where the paper goes. */
export const saveShipping = (shipping: Shipping): Promise<Answer<ShippingAnswer>> =>
  ask('/api/v1/me/shipping', { body: { name: shipping.name, address: shipping.address, phone: shipping.phone } });
