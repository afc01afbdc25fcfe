/** Stripe's webhook. */

import { webhookCall } from '../../../../lib/billing/http.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = webhookCall;
export const ALL = allowOnly('POST');
