/** Says, before the window opens, where a social sign-in is to end (vendors.md 1.8). */
import { only, plainCall } from '../../../lib/accounts/http.server.ts';
import { said } from '../../../lib/accounts/names.ts';
import { returnPath } from '../../../lib/accounts/return-path.ts';
import { socialStart } from '../../../lib/accounts/state-cookies.server.ts';
import { oauthStateBody } from '../../../lib/accounts/wire.ts';

export const POST = plainCall(oauthStateBody, async ({ body, context }) => {
  const { siteUrl } = context.locals.config;
  const target = returnPath(body.target_url ?? body.start_url, siteUrl);
  return { status: 200, body: { message: said.state }, cookies: [socialStart(context.locals).set(target)] };
});
export const ALL = only('POST');
