/** The newsletters of the signed-in reader; PUT replaces all choices. */
import { z } from 'zod';
import { featureOff } from '../../../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';
import type { ChoicesAnswer } from '../../../../lib/newsletters/schema.ts';

/** Slugs; unknown ones are left out. */
const choicesBody = z.looseObject({ choices: z.array(z.string().max(64)).max(50) });

export const GET = signedInRoute({}, async ({ session, context }) => {
  const { newsletters } = context.locals.services;
  if (!newsletters) return featureOff();
  return { status: 200, body: { choices: await newsletters.choices(session.userId) } satisfies ChoicesAnswer };
});
export const PUT = signedInRoute({ body: choicesBody }, async ({ session, body, context }) => {
  const { newsletters } = context.locals.services;
  if (!newsletters) return featureOff();
  await newsletters.choose(session, body.choices);
  return { status: 200, body: { choices: await newsletters.choices(session.userId) } satisfies ChoicesAnswer };
});
export const ALL = allowOnly('GET', 'PUT');
