/** What the reader who is signed in gets by mail; PUT says all of it. */
import { away } from '../../../../lib/accounts/answers.ts';
import { only, readerCall } from '../../../../lib/accounts/http.server.ts';
import { type ChoicesAnswer, choicesBody } from '../../../../lib/newsletters/wire.ts';

const retryWhenOff = 600;

export const GET = readerCall({}, async ({ session, context }) => {
  const { newsletters } = context.locals.services;
  if (!newsletters) return away(retryWhenOff);
  return { status: 200, body: { choices: await newsletters.choices(session.userId) } satisfies ChoicesAnswer };
});
export const PUT = readerCall({ body: choicesBody }, async ({ session, body, context }) => {
  const { newsletters } = context.locals.services;
  if (!newsletters) return away(retryWhenOff);
  await newsletters.choose(session, body.choices);
  return { status: 200, body: { choices: await newsletters.choices(session.userId) } satisfies ChoicesAnswer };
});
export const ALL = only('GET', 'PUT');
