/** Prices of the market ticker (spec sections 3 and 7); an empty list where there is no provider. */
import { allowOnly, getRoute } from '../../../../lib/http/routes.server.ts';
import type { TickerItem } from '../../../../lib/ticker/model.ts';

/** Shorter than the interval of requests to the provider: caching makes the answer older by at most this time. */
const headers = { 'Cache-Control': 'public, max-age=15' };

export const GET = getRoute(async ({ locals }) => {
  const body: readonly TickerItem[] = (await locals.services.ticker?.quotes()) ?? [];
  return { status: 200, body, headers };
});
export const ALL = allowOnly('GET');
