/**
 * The page on which comments are written, changed, taken back and reported without a script: what was posted, and what is shown.
 * Whatever goes wrong, the form comes back with everything that was typed.
 */

import type { AstroGlobal } from 'astro';
import { requireReader } from '../accounts/guard.server.ts';
import type { Session } from '../accounts/service.ts';
import type { Article, Comment, ContentReader } from '../content/model.ts';
import { readOwnForm, seeOther } from '../http/form.server.ts';
import { callerOf } from '../http/routes.server.ts';
import { commentFormPath, commentNumber } from './model.ts';
import { isPublished, longestBody, messageOf, placeOf } from './routes.server.ts';
import type { MineAnswer } from './schema.ts';
import { commentDone, commentFailed } from './schema.ts';
import type { CommentFailure, Comments } from './service.ts';

type Page = Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response' | 'clientAddress'>;

/** What the page shows. */
export interface CommentForm {
  readonly article: Article;
  /** Comment that is answered or reported. */
  readonly about: Comment | null;
  readonly mode: 'write' | 'edit' | 'report';
  /** Our number of the own comment that is changed; ''. */
  readonly edit: string;
  readonly content: string;
  /** `null`: the name is known, and not asked for. */
  readonly name: string | null;
  /** The draft's number, once it has been sent in vain. */
  readonly draft: string;
  readonly problem: string | null;
  readonly done: string | null;
  readonly mine: MineAnswer;
  /** Address of the reader, where it has to be confirmed first. */
  readonly toConfirm: string | null;
}

const noAnswer: MineAnswer = { name: '', mayWrite: true, comments: [], reported: [] };

/** Works on what was posted and gathers what is shown. A response where the page is not to be drawn. */
export async function commentForm(page: Page): Promise<CommentForm | Response> {
  const { request, locals, url, response } = page;
  const { comments, accounts, log } = locals.services;
  const posted = request.method === 'POST';
  const form = posted ? await readOwnForm(page, longestBody) : url.searchParams;
  if (form instanceof Response) return form;
  const text = (name: string): string => form.get(name) ?? '';
  const article = articleOf(locals.content, commentNumber(text('article')) ?? 0);
  if (!article || !comments || !accounts) return new Response(null, { status: 404 });
  const parent = commentNumber(text('parent')) ?? 0;
  const report = commentNumber(text('report')) ?? 0;
  const edit = text('edit');

  let session: Session | null = null;
  let problem: string | null = null;
  if (posted) {
    const known = await accounts.session(request.headers.get('cookie')).catch(() => null);
    for (const cookie of known?.cookies ?? []) response.headers.append('Set-Cookie', cookie);
    session = known?.session ?? null;
    if (session) {
      const sent: Sent = { article, parent, report, edit, text, session, comments };
      const next = await work(page, sent).catch((error: unknown): CommentFailure => {
        log.error({ err: error, url: url.pathname }, 'A comment form failed');
        return { kind: 'unavailable' };
      });
      if (typeof next === 'string') return seeOther({ to: next, cookies: known?.cookies ?? [] });
      problem = messageOf(next);
      response.status = next.kind === 'unavailable' ? 503 : next.kind === 'limited' ? 429 : 422;
    } else {
      problem = commentFailed.signedOut;
      response.status = 401;
    }
  } else {
    const reader = await requireReader(page);
    if (reader instanceof Response) return reader;
    session = reader;
  }
  response.headers.set('Cache-Control', 'private, no-store');

  const mine = session
    ? await comments.mine(session, article.id, isPublished(locals.content)).catch(() => noAnswer)
    : noAnswer;
  const own = mine.comments.find(({ id }) => id === edit) ?? null;
  if (!posted && edit && !own) return new Response(null, { status: 404 });
  const about = parent || report ? locals.content.comment(parent || report) : null;
  if (!posted && (parent || report) && about?.articleId !== article.id) return new Response(null, { status: 404 });
  const given = text('name');
  return {
    article,
    about,
    edit,
    mine,
    problem,
    toConfirm: session && !session.emailVerified ? session.email : null,
    mode: report ? 'report' : edit ? 'edit' : 'write',
    content: posted ? text('content') : (own?.content ?? ''),
    name: mine.name === '' || given !== '' ? given : null,
    draft: posted ? text('draft') || crypto.randomUUID() : crypto.randomUUID(),
    done: posted ? null : doneMessage(text('state')),
  };
}

interface Sent {
  readonly article: Article;
  readonly parent: number;
  readonly report: number;
  readonly edit: string;
  readonly text: (name: string) => string;
  readonly session: Session;
  readonly comments: Comments;
}

const doneMessage = (state: string): string | null =>
  Object.hasOwn(commentDone, state) ? commentDone[state as keyof typeof commentDone] : null;

/** @returns where to go, or why not */
async function work(page: Page, sent: Sent): Promise<string | CommentFailure> {
  const { article, parent, report, edit, text, session, comments } = sent;
  const caller = callerOf(page);
  const to = (state: string): string => `${commentFormPath(article.id, { state })}#comments`;
  if (report) {
    if (!isPublished(page.locals.content)(report)) return { kind: 'gone' };
    const outcome = await comments.report(session, report, caller);
    return outcome.ok ? to('reported') : outcome.failure;
  }
  if (edit && text('do') === 'remove') {
    const outcome = await comments.remove(session, edit);
    return outcome.ok ? to('removed') : outcome.failure;
  }
  if (edit) {
    const outcome = await comments.edit(session, edit, text('content'), caller);
    return outcome.ok ? to('changed') : outcome.failure;
  }
  const outcome = await comments.post(
    session,
    {
      place: placeOf(page.locals.content, article.id, parent),
      content: text('content'),
      name: text('name') || undefined,
      // The form of a stored page has no number of its own.
      draft: /^[\w-]{8,64}$/.test(text('draft')) ? text('draft') : undefined,
    },
    caller,
  );
  return outcome.ok ? to(outcome.value.status === 'published' ? 'published' : 'waiting') : outcome.failure;
}

function articleOf(content: ContentReader, id: number): Article | null {
  const card = id > 0 ? content.articles({ ids: [id] }).items[0] : undefined;
  return card ? content.article(card.slug) : null;
}
