/** Handles the form with all mail choices of a signed-in reader. An unchecked box unsubscribes. */
import { signedInForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { mailFields } from '../../lib/newsletters/schema.ts';

const page = '/dashboard/newsletters';

export const POST = signedInForm(page, async ({ session, form, context }) => {
  const { newsletters, log } = context.locals.services;
  try {
    await newsletters?.choose(session, form.getAll(mailFields.choice));
    return { to: withQuery(page, { state: 'saved' }) };
  } catch (error) {
    log.error({ err: error }, 'The choice of newsletters could not be saved');
    return { to: withQuery(page, { problem: 'failed' }) };
  }
});
export const GET = redirectGet(page);
