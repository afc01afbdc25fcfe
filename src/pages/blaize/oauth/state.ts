/** Stores, before the window opens, the page to which a social sign-in returns (docs/services/zephr.md). */

import { wireMessages } from '../../../lib/accounts/messages.ts';
import { socialReturnCookie } from '../../../lib/accounts/routes.server.ts';
import { oauthStateBody } from '../../../lib/accounts/schema.ts';
import { returnPath } from '../../../lib/http/origin.ts';
import { allowOnly, jsonRoute } from '../../../lib/http/routes.server.ts';

export const POST = jsonRoute(oauthStateBody, async ({ body, context }) => {
  const { siteUrl } = context.locals.config;
  const target = returnPath(body.target_url ?? body.start_url, siteUrl);
  return {
    status: 200,
    body: { message: wireMessages.state },
    cookies: [socialReturnCookie(context.locals).set(target)],
  };
});
export const ALL = allowOnly('POST');
