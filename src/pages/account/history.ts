/** Handles the forms of the reading history: `do` = `remove` (with `article`), `clear`, `off`, `on`. */
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { articleIdOf } from '../../lib/saved/routes.server.ts';

const savedTab = '/dashboard/saved';

export const POST = accountForm(async ({ accounts, form, caller, context }) => {
  const { savedStories } = context.locals.services;
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, savedTab) };
  const wanted = form.get('do');
  const articleId = articleIdOf(form.get('article'));
  if (wanted === 'remove' && articleId !== null) await savedStories?.forgetRead(session.userId, articleId);
  if (wanted === 'clear') await savedStories?.clearHistory(session.userId);
  if (wanted === 'off' || wanted === 'on') await savedStories?.keepHistory(session.userId, wanted === 'on');
  return {
    to: `${withQuery(savedTab, { state: `history-${wanted === 'remove' ? 'removed' : wanted === 'clear' ? 'cleared' : wanted === 'off' ? 'off' : 'on'}` })}#history`,
    cookies,
  };
});
export const GET = redirectGet(savedTab);
