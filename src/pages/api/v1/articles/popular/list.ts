/**
 * What is read most (spec section 7), in the whole paper or, with `section`, in one section. Nobody keeps the answer: a story that was
 * withdrawn must be gone from it at once.
 */
import { refuse } from '../../../../../lib/accounts/answers.ts';
import { only, readCall } from '../../../../../lib/accounts/http.server.ts';
import { articleCardOf, type CardsAnswer } from '../../../../../lib/cards/wire.ts';
import { limitOf } from '../../../../../lib/popularity/query.ts';

export const GET = readCall(async ({ locals, url }) => {
  const limit = limitOf(url.searchParams.get('limit'));
  const section = url.searchParams.get('section') ?? undefined;
  if (section !== undefined && locals.content.section(section) === null)
    return refuse(404, 'There is no such section.');
  const articles = locals.services.popularity.top({ limit, section }).map(articleCardOf);
  return { status: 200, body: { articles } satisfies CardsAnswer };
});
export const ALL = only('GET');
