/**
 * The other end of the forms about saved stories: on an article (`do` = `save`), and in the dashboard (`remove`, `save` to undo). Whoever
 * has to sign in first comes back here, where what they wanted to save is known from a cookie that their own form has set.
 */
import type { APIRoute } from 'astro';
import { accountForm, saveLater, signInPage } from '../../lib/accounts/form.server.ts';
import { withQuery } from '../../lib/http/form.server.ts';
import type { Library } from '../../lib/saved/model.ts';
import { articleIdOf, isPublished } from '../../lib/saved/routes.server.ts';

const savedTab = '/dashboard/saved';
const here = '/account/saved';

async function save(library: Library, userId: string, articleId: number): Promise<string> {
  const outcome = await library.save(userId, articleId);
  return withQuery(savedTab, outcome === 'full' ? { problem: 'full' } : { state: 'saved', article: String(articleId) });
}

export const POST = accountForm(async ({ accounts, form, caller, context }) => {
  const { library } = context.locals.services;
  const articleId = articleIdOf(form.get('article'));
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (articleId === null || !library) return { to: session ? savedTab : '/', cookies };
  if (form.get('do') === 'remove') {
    if (!session) return { to: signInPage(null, savedTab) };
    await library.unsave(session.userId, articleId);
    return { to: withQuery(savedTab, { state: 'removed', article: String(articleId) }), cookies };
  }
  if (!isPublished(context.locals.content, articleId)) return { to: session ? savedTab : '/', cookies };
  if (session) return { to: await save(library, session.userId, articleId), cookies };
  return { to: signInPage(null, here), cookies: [saveLater(context.locals).set(articleId)] };
});

export const GET: APIRoute = async ({ request, locals }) => {
  const header = request.headers.get('cookie');
  const { accounts, library, log } = locals.services;
  const wish = saveLater(locals);
  const headers = new Headers({ Location: savedTab, 'Cache-Control': 'private, no-store' });
  try {
    const { session, cookies } = (await accounts?.session(header)) ?? { session: null, cookies: [] };
    for (const cookie of cookies) headers.append('Set-Cookie', cookie);
    const articleId = wish.read(header);
    if (!session) headers.set('Location', signInPage(null, here));
    else if (articleId !== null && library && isPublished(locals.content, articleId)) {
      headers.set('Location', await save(library, session.userId, articleId));
      headers.append('Set-Cookie', wish.clear);
    }
  } catch (error) {
    // The tab says what is wrong; the wish is kept.
    log.error({ err: error }, 'A story could not be saved after a sign-in');
  }
  return new Response(null, { status: 303, headers });
};
