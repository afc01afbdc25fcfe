/** Roughly where the browser is (spec section 7), and its network address as the site sees it. */
import { callerOf, only, readCall } from '../../lib/accounts/http.server.ts';
import type { GeoAnswer } from '../../lib/accounts/wire.ts';

export const GET = readCall(async (context) => {
  const { address } = callerOf(context);
  const place = context.locals.services.geo.locate(address, context.request.headers);
  return { status: 200, body: { ...place, ip: address } satisfies GeoAnswer };
});
export const ALL = only('GET');
