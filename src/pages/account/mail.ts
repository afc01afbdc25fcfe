/** Handles the form with all mail choices of a signed-in reader. An unchecked box unsubscribes. */
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { mailFields } from '../../lib/newsletters/schema.ts';

const page = '/dashboard/newsletters';

export const POST = accountForm(async ({ accounts, form, caller, context }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, page) };
  const { newsletters, log } = context.locals.services;
  try {
    await newsletters?.choose(session, form.getAll(mailFields.choice));
    return { to: withQuery(page, { state: 'saved' }), cookies };
  } catch (error) {
    log.error({ err: error }, 'The choice of newsletters could not be saved');
    return { to: withQuery(page, { problem: 'failed' }), cookies };
  }
});
export const GET = redirectGet(page);
