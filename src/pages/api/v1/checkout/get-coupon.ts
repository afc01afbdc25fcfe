/** Checks a coupon (spec sections 3 and 7). */

import { answerOf, billingRoute, couponBody } from '../../../../lib/billing/routes.server.ts';
import type { CouponAnswer } from '../../../../lib/billing/schema.ts';

import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = billingRoute({ body: couponBody }, async ({ billing, body, session, caller }) => {
  const { couponCode, plan_id: plan, currency } = body;
  const result = await billing.coupon(couponCode, plan ?? null, { session, clientAddress: caller.address, currency });
  if (result.ok) return answerOf(result);
  const { message: error } = result.error;
  const none: CouponAnswer = { discount_code: couponCode, amount_off: null, percent_off: null, error };
  return { ...answerOf(result), body: { ...result.error, ...none } };
});
export const ALL = allowOnly('POST');
