/** Stripe's webhook under its older name (docs/services/zephr.md). */

import { webhookRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = webhookRoute;
export const ALL = allowOnly('POST');
