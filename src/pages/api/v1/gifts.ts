/** A subscriber gives an article away: a link that opens it for some others. */
import { isWalled } from '../../../lib/access/article.ts';
import { type GiftAnswer, type GiftsLeft, giftBody } from '../../../lib/access/schema.ts';
import { unconfirmed } from '../../../lib/accounts/forms.ts';
import { refuse, unavailable } from '../../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../../lib/http/routes.server.ts';
import { publication } from '../../../publication.ts';

export const POST = signedInRoute({ body: giftBody }, async ({ session, body, context, siteUrl }) => {
  const { content, services } = context.locals;
  if (!services.access) return unavailable(600);
  const article = content.articles({ ids: [body.articleId] }).items[0];
  if (!article) return refuse(404, 'There is no such article.');
  if (!isWalled(article.access)) {
    return refuse(409, 'Everybody can read this article: simply pass its address on.');
  }
  const given = await services.access.give(session, article.id);
  if (!given) return refuse(403, 'Subscribers can give articles away.');
  const { most, readers } = publication.access.gifts;
  if (!given.ok) {
    if (given.why === 'unconfirmed') {
      return refuse(
        403,
        'Confirm your email address first: open the link we mailed you, or sign in with your email once more.',
        { code: unconfirmed },
      );
    }
    const { retryAfter } = given;
    return refuse(429, `You have given away all ${most} articles of these thirty days.`, { retryAfter });
  }
  const { gift, left } = given;
  const expires = new Date(gift.expires).toISOString();
  return {
    status: 201,
    body: { url: `${siteUrl}/gift/${gift.token}`, expires, readers, left, most } satisfies GiftAnswer,
  };
});

export const GET = signedInRoute({}, async ({ session, context }) => {
  const { access } = context.locals.services;
  if (!access) return unavailable(600);
  const { gifts } = await access.view({ session, path: '/', article: null, cookies: null, count: false });
  return gifts ? { status: 200, body: gifts satisfies GiftsLeft } : refuse(403, 'Subscribers can give articles away.');
});
export const ALL = allowOnly('GET', 'POST');
