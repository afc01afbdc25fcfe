/** Handles the forms of the reading history: `do` = `remove` (with `article`), `clear`, `off`, `on`. */
import { signedInForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import type { SavedStories } from '../../lib/saved/model.ts';
import { parseId } from '../../lib/text.ts';

const savedTab = '/dashboard/saved';

/** What a `do` without an article does, and the state in which the page is shown then. */
const actions: Readonly<
  Record<string, { readonly state: string; run(stories: SavedStories, userId: string): Promise<unknown> }>
> = {
  clear: { state: 'history-cleared', run: (stories, userId) => stories.clearHistory(userId) },
  off: { state: 'history-off', run: (stories, userId) => stories.keepHistory(userId, false) },
  on: { state: 'history-on', run: (stories, userId) => stories.keepHistory(userId, true) },
};

/** @returns the state in which the page is shown; `null` when nothing was done */
async function change(savedStories: SavedStories, userId: string, form: URLSearchParams): Promise<string | null> {
  const wanted = form.get('do') ?? '';
  if (wanted === 'remove') {
    const articleId = parseId(form.get('article'));
    if (articleId === null) return null;
    await savedStories.forgetRead(userId, articleId);
    return 'history-removed';
  }
  const action = Object.hasOwn(actions, wanted) ? actions[wanted] : undefined;
  if (!action) return null;
  await action.run(savedStories, userId);
  return action.state;
}

export const POST = signedInForm(savedTab, async ({ session, form, context }) => {
  const { savedStories } = context.locals.services;
  const state = savedStories ? await change(savedStories, session.userId, form) : null;
  return { to: `${withQuery(savedTab, { state })}#history` };
});
export const GET = redirectGet(savedTab);
