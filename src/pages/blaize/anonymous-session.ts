/** Gives a browser a number without an account (docs/services/zephr.md); the server stores nothing. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { wireMessages } from '../../lib/accounts/messages.ts';
import { trackingCookie } from '../../lib/accounts/model.ts';
import type { AnonymousAnswer } from '../../lib/accounts/schema.ts';
import { sessionLife } from '../../lib/accounts/sessions.server.ts';
import { setCookie } from '../../lib/http/cookies.server.ts';
import { allowOnly, jsonRoute } from '../../lib/http/routes.server.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const POST = jsonRoute(z.looseObject({}), async ({ context }) => {
  const known = context.cookies.get(trackingCookie)?.value ?? '';
  const trackingId = uuid.test(known) ? known : randomUUID();
  const secure = context.locals.config.siteUrl.startsWith('https:');
  return {
    status: 201,
    body: { message: wireMessages.anonymous, tracking_id: trackingId } satisfies AnonymousAnswer,
    cookies: [setCookie(trackingCookie, trackingId, { maxAge: sessionLife.tracking, httpOnly: true, secure })],
  };
});
export const ALL = allowOnly('POST');
