/**
 * Handles the newsletter form. The choice is part of the link's return path, which is stored with the link, so it is saved when
 * the link is used on any device. For signed-in readers it is saved at once.
 */

import { formFields, normalEmail } from '../../lib/accounts/model.ts';
import { readerForm, requestSignIn } from '../../lib/accounts/routes.server.ts';

import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { choiceOf, saveChoice, subscribedPath } from '../../lib/newsletters/model.ts';

export const POST = readerForm(async (call) => {
  const { session, form, context } = call;
  const email = (form.get(formFields.email) ?? '').trim();
  const chosen = form.getAll(formFields.newsletter);
  if (chosen.length > 0 && chosen.every((slug) => slug === '')) {
    return { to: withQuery(call.returnTo, { problem: 'choice' }) };
  }
  const path = subscribedPath(chosen);
  if (session && session.email === normalEmail(email)) {
    await saveChoice(context.locals.services.newsletters, session, choiceOf(path));
    return { to: path };
  }
  return requestSignIn(call, { email, method: 'link', returnTo: path, state: 'newsletter', back: call.returnTo });
});
export const GET = redirectGet('/newsletter');
