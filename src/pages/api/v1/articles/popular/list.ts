/**
 * The most read articles (spec section 7), of the site or, with `section`, of one section. Never cached, so that a withdrawn story disappears
 * at once.
 */
import { articleCardOf, type CardsAnswer } from '../../../../../lib/cards/wire.ts';
import { refuse } from '../../../../../lib/http/answer.ts';
import { allowOnly, getRoute } from '../../../../../lib/http/routes.server.ts';
import { limitOf } from '../../../../../lib/most-read/model.ts';

export const GET = getRoute(async ({ locals, url }) => {
  const limit = limitOf(url.searchParams.get('limit'));
  const section = url.searchParams.get('section') ?? undefined;
  if (section !== undefined && locals.content.section(section) === null)
    return refuse(404, 'We can’t find this section.');
  const articles = locals.services.mostRead.top({ limit, section }).map(articleCardOf);
  return { status: 200, body: { articles } satisfies CardsAnswer };
});
export const ALL = allowOnly('GET');
