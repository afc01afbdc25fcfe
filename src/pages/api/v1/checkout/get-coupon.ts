/** Whether a coupon is good (spec sections 3 and 7). */

import { answerOf, shopCall } from '../../../../lib/billing/http.server.ts';
import { type CouponAnswer, couponBody } from '../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = shopCall({ body: couponBody }, async ({ billing, body, session, caller }) => {
  const { couponCode, plan_id: plan } = body;
  const result = await billing.coupon(couponCode, plan ?? null, { session, address: caller.address });
  if (result.ok) return answerOf(result);
  const { message: error } = result.error;
  const none: CouponAnswer = { discount_code: couponCode, amount_off: null, percent_off: null, error };
  return { ...answerOf(result), body: { ...result.error, ...none } };
});
export const ALL = allowOnly('POST');
