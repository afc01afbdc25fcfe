/**
 * Handles the forms about saved stories: on an article (`do` = `save`), and in the dashboard (`remove`, `save` to undo). A reader who has
 * to sign in first returns here; a cookie, set when the form was posted, names the story.
 */
import type { APIRoute } from 'astro';
import { readerForm, saveLaterCookie, signInPage } from '../../lib/accounts/routes.server.ts';
import { seeOther, withQuery } from '../../lib/http/form.server.ts';
import type { SavedStories } from '../../lib/saved/model.ts';
import { isPublished } from '../../lib/saved/routes.server.ts';
import { parseId } from '../../lib/text.ts';

const savedTab = '/dashboard/saved';
const here = '/account/saved';

async function save(savedStories: SavedStories, userId: string, articleId: number): Promise<string> {
  const outcome = await savedStories.save(userId, articleId);
  return withQuery(savedTab, outcome === 'full' ? { problem: 'full' } : { state: 'saved', article: String(articleId) });
}

export const POST = readerForm(async ({ session, form, context }) => {
  const { savedStories } = context.locals.services;
  const articleId = parseId(form.get('article'));
  if (articleId === null || !savedStories) return { to: session ? savedTab : '/' };
  if (form.get('do') === 'remove') {
    if (!session) return { to: signInPage(null, savedTab) };
    await savedStories.unsave(session.userId, articleId);
    return { to: withQuery(savedTab, { state: 'removed', article: String(articleId) }) };
  }
  if (!isPublished(context.locals.content, articleId)) return { to: session ? savedTab : '/' };
  if (session) return { to: await save(savedStories, session.userId, articleId) };
  return { to: signInPage(null, here), cookies: [saveLaterCookie(context.locals).set(articleId)] };
});

export const GET: APIRoute = async ({ request, locals }) => {
  const header = request.headers.get('cookie');
  const { accounts, savedStories, log } = locals.services;
  const later = saveLaterCookie(locals);
  let cookies: readonly string[] = [];
  try {
    const known = await accounts?.session(header);
    cookies = known?.cookies ?? [];
    if (!known?.session) return seeOther({ to: signInPage(null, here), cookies });
    const articleId = later.read(header);
    if (articleId !== null && savedStories && isPublished(locals.content, articleId)) {
      const to = await save(savedStories, known.session.userId, articleId);
      return seeOther({ to, cookies: [...cookies, later.clear] });
    }
  } catch (error) {
    // The dashboard shows the error; the cookie stays.
    log.error({ err: error }, 'A story could not be saved after a sign-in');
  }
  return seeOther({ to: savedTab, cookies });
};
