/** The browser's approximate place (spec section 7), and its network address as the site sees it. */

import type { GeoAnswer } from '../../lib/accounts/schema.ts';
import { allowOnly, callerOf, getRoute } from '../../lib/http/routes.server.ts';

export const GET = getRoute(async (context) => {
  const { address } = callerOf(context);
  const place = context.locals.services.geo.locate(address, context.request.headers);
  return { status: 200, body: { ...place, ip: address } satisfies GeoAnswer };
});
export const ALL = allowOnly('GET');
