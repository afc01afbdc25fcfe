/** Gift links, by which a subscriber opens an article for some other readers. */
import { z } from 'zod';
import type { GiftAnswer, GiftBody, GiftsLeft } from '../../../lib/access/client.ts';
import { isRestrictedLevel } from '../../../lib/access/model.ts';
import { unconfirmed } from '../../../lib/accounts/model.ts';
import { giftMessages } from '../../../lib/article/tools.ts';
import { featureOff, refuse } from '../../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../../lib/http/routes.server.ts';
import { publication } from '../../../publication.ts';

const giftBody = z.looseObject({ articleId: z.int().positive() }) satisfies z.ZodType<GiftBody>;

export const POST = signedInRoute({ body: giftBody }, async ({ session, body, context, siteUrl }) => {
  const { content, services } = context.locals;
  if (!services.access) return featureOff();
  const article = content.articles({ ids: [body.articleId] }).items[0];
  if (!article) return refuse(404, giftMessages.noArticle);
  if (!isRestrictedLevel(article.access)) return refuse(409, giftMessages.free);
  const given = await services.access.give(session, article.id);
  if (!given) return refuse(403, giftMessages.subscribersOnly);
  const { most, readers } = publication.access.gifts;
  if (!given.ok) {
    if (given.why === 'unconfirmed') return refuse(403, giftMessages.confirmFirst, { code: unconfirmed });
    return refuse(429, giftMessages.allUsed(most), { retryAfter: given.retryAfter });
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
  if (!access) return featureOff();
  const { gifts } = await access.view({ session, path: '/', article: null, cookies: null, count: false });
  return gifts ? { status: 200, body: gifts satisfies GiftsLeft } : refuse(403, giftMessages.subscribersOnly);
});
export const ALL = allowOnly('GET', 'POST');
