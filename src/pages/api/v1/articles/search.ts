/** Full-text search (spec sections 3 and 7): `?q=`, and optionally `section`, `from`, `to`, `page` (from 1) and `limit`. */
import { refuse, tooManyRequests } from '../../../../lib/http/answer.ts';
import { allowOnly, callerOf, getRoute } from '../../../../lib/http/routes.server.ts';
import { pageNumber } from '../../../../lib/paging.ts';
import { searchMessages } from '../../../../lib/search/messages.ts';
import { busyFor, isSearchBusy } from '../../../../lib/search/model.ts';
import { answerOf, readSearchParameters, spanOf } from '../../../../lib/search/parameters.ts';

import { publication } from '../../../../publication.ts';

const mostHits = 20;

export const GET = getRoute(async (context) => {
  const { locals } = context;
  const { searchParams } = context.url;
  const read = readSearchParameters(searchParams);
  if (!read.ok) return refuse(400, read.message);
  const { query, section } = read.parameters;
  if (query === '') return refuse(400, searchMessages.noQuery);
  const page = pageNumber(searchParams);
  const limit = Number(searchParams.get('limit') ?? publication.pageSizes.articles);
  if (page === null) return refuse(400, searchMessages.badPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostHits) return refuse(400, searchMessages.badLimit(mostHits));
  const { search, limiter } = locals.services;
  const over = await limiter.count('search', { address: callerOf(context).address });
  if (over) return tooManyRequests(over.retryAfter);
  try {
    const found = await search.find(locals.content, query, {
      offset: (page - 1) * limit,
      limit,
      ...spanOf(read.parameters),
      ...(section !== '' && { section }),
    });
    return { status: 200, body: answerOf(found, query, page - 1, limit) };
  } catch (error) {
    if (isSearchBusy(error)) return refuse(503, searchMessages.failed, { retryAfter: busyFor });
    throw error;
  }
});
export const ALL = allowOnly('GET');
