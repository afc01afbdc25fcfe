/** Stripe's webhook. */
import { only } from '../../../../lib/accounts/http.server.ts';
import { webhookCall } from '../../../../lib/billing/http.server.ts';

export const POST = webhookCall;
export const ALL = only('POST');
