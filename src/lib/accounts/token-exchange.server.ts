/** POST /blaize/token-exchange: mails a link (spec section 7; vendors.md 1.3). */
import type { APIContext, APIRoute } from 'astro';
import { refuse } from '../http/answer.ts';
import { accountRoute } from '../http/routes.server.ts';
import { answerFailure } from './answers.ts';
import { deliveryOf } from './bodies.ts';
import { said } from './names.ts';
import { signIn } from './state-cookies.server.ts';
import { deliveryBody } from './wire.ts';

const route: APIRoute = accountRoute({ body: deliveryBody }, async ({ accounts, body, caller, siteUrl, context }) => {
  const delivery = deliveryOf(body, siteUrl, caller);
  if (!delivery.ok) return refuse(400, delivery.message);
  const { email, purpose, redirect, method } = delivery.value;
  if (method !== 'email') return refuse(400, 'Links are sent by email only.');
  const outcome = await accounts.sendLink(delivery.value);
  if (!outcome.ok) return answerFailure(outcome.failure);
  // So that the link, opened in this browser, needs no second click.
  const state = { email, purpose: purpose === 'login' ? purpose : 'register', returnTo: redirect } as const;
  return { status: 201, body: { message: said.linkSent }, cookies: [signIn(context.locals).set(state)] };
});

/** @param context also `Astro`, which has all that is read of it */
export const mailLink = (
  context: Pick<APIContext, 'request' | 'locals' | 'url' | 'clientAddress'>,
): Promise<Response> => Promise.resolve(route(context as APIContext));
