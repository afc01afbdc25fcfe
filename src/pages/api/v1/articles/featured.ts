/** The stories that the editors have put first, as cards: for whoever has searched in vain (spec section 2, "Search overlay"). */
import { refuse } from '../../../../lib/accounts/answers.ts';
import { only, readCall } from '../../../../lib/accounts/http.server.ts';
import { articleCardOf, type CardsAnswer } from '../../../../lib/cards/wire.ts';
import { featuredStories } from '../../../../lib/search/answer.ts';

const standard = 4;
const most = 12;

export const GET = readCall(async ({ url: { searchParams }, locals }) => {
  const limit = Number(searchParams.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    return refuse(400, `Please give a limit from 1 to ${most}.`);
  return {
    status: 200,
    body: { articles: featuredStories(locals.content, limit).map(articleCardOf) } satisfies CardsAnswer,
  };
});
export const ALL = only('GET');
