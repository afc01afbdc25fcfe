/** The stories that the editors have put first, as cards: for whoever has searched in vain (spec section 2, "Search overlay"). */

import { articleCardOf, type CardsAnswer } from '../../../../lib/cards/wire.ts';
import { refuse } from '../../../../lib/http/answer.ts';
import { allowOnly, getRoute } from '../../../../lib/http/routes.server.ts';
import { featuredStories } from '../../../../lib/search/answer.ts';

const standard = 4;
const most = 12;

export const GET = getRoute(async ({ url: { searchParams }, locals }) => {
  const limit = Number(searchParams.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    return refuse(400, `Please give a limit from 1 to ${most}.`);
  return {
    status: 200,
    body: { articles: featuredStories(locals.content, limit).map(articleCardOf) } satisfies CardsAnswer,
  };
});
export const ALL = allowOnly('GET');
