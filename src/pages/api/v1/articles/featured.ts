/** The editors' top stories as cards, for a search without results (spec section 2, "Search overlay"). */
import { articleCardOf, type CardsAnswer } from '../../../../lib/cards/wire.ts';
import { refuse } from '../../../../lib/http/answer.ts';
import { allowOnly, getRoute } from '../../../../lib/http/routes.server.ts';
import { searchMessages } from '../../../../lib/search/messages.ts';
import { featuredStories } from '../../../../lib/search/parameters.ts';

const standard = 4;
const most = 12;

export const GET = getRoute(async ({ url: { searchParams }, locals }) => {
  const limit = Number(searchParams.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) return refuse(400, searchMessages.badLimit(most));
  return {
    status: 200,
    body: { articles: featuredStories(locals.content, limit).map(articleCardOf) } satisfies CardsAnswer,
  };
});
export const ALL = allowOnly('GET');
