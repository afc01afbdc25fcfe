/**
 * The page on which comments are written, edited, deleted and reported without JavaScript: handles what was posted, and says what the
 * page shows. After any failure, the form is shown again with everything that was typed.
 */
import type { AstroGlobal } from 'astro';
import { requireReader } from '../accounts/routes.server.ts';
import type { Session } from '../accounts/service.ts';
import type { Article, Comment } from '../content/model.ts';
import { type Next, postedForm, textResponse } from '../http/form.server.ts';
import { callerOf } from '../http/routes.server.ts';
import { parseId } from '../text.ts';
import { commentFormPath } from './model.ts';
import { articleOf, isPublished, longestBody, messageOf, placeOf } from './routes.server.ts';
import { commentDone, commentFailed, commentFields, draftPattern, type MineAnswer } from './schema.ts';
import type { CommentFailure, Comments } from './service.ts';

type Page = Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response' | 'clientAddress'>;

/** What the page shows. */
export interface CommentForm {
  readonly article: Article;
  /** The comment that is replied to or reported. */
  readonly about: Comment | null;
  readonly mode: 'write' | 'edit' | 'report';
  /** Our id of the user's own comment to edit; '' if there is none. */
  readonly edit: string;
  readonly content: string;
  /** `null`: the name is known, and the page doesn't ask for it. */
  readonly name: string | null;
  /** The draft's id: sending it again creates no second comment. */
  readonly draft: string;
  readonly problem: string | null;
  readonly done: string | null;
  readonly mine: MineAnswer;
  /** The user's email address, if it has to be confirmed first. */
  readonly toConfirm: string | null;
}

/** The fields as they were posted, or as the page's address gives them. */
interface Given {
  readonly article: Article;
  readonly comments: Comments;
  readonly parent: number;
  readonly report: number;
  readonly edit: string;
  readonly text: (name: keyof typeof commentFields) => string;
}

/** A posted form that was refused. */
interface Refused {
  readonly given: Given;
  readonly session: Session | null;
  readonly status: number;
  readonly problem: string;
}

const noAnswer: MineAnswer = { name: '', mayWrite: true, comments: [], reported: [] };
const notFound = (): Response => new Response(null, { status: 404 });

/** Handles a post and collects what the page shows; or a response if the page isn't rendered. */
export async function commentPage(page: Page): Promise<CommentForm | Response> {
  if (page.request.method !== 'POST') {
    const given = givenBy(page, page.url.searchParams);
    if (!given) return notFound();
    const reader = await requireReader(page);
    return reader instanceof Response ? reader : show(page, given, reader, null);
  }
  const answer = await postedForm(page, (form) => handlePost(page, form), longestBody);
  if (answer instanceof Response) return answer;
  if (!('session' in answer)) return answer.status === 404 ? notFound() : textResponse(answer.status, answer.problem);
  page.response.status = answer.status;
  return show(page, answer.given, answer.session, answer.problem);
}

function givenBy({ locals }: Page, form: URLSearchParams): Given | null {
  const text: Given['text'] = (name) => form.get(commentFields[name]) ?? '';
  const article = articleOf(locals.content, parseId(text('article')) ?? 0);
  const { comments, accounts } = locals.services;
  if (!article || !comments || !accounts) return null;
  const parent = parseId(text('parent')) ?? 0;
  const report = parseId(text('report')) ?? 0;
  return { article, comments, parent, report, edit: text('edit'), text };
}

async function handlePost(
  page: Page,
  form: URLSearchParams,
): Promise<Next | Refused | { status: 404; problem: string }> {
  const { request, locals, response, url } = page;
  const given = givenBy(page, form);
  if (!given) return { status: 404, problem: '' };
  const known = await locals.services.accounts?.session(request.headers.get('cookie')).catch(() => null);
  const cookies = known?.cookies ?? [];
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  const session = known?.session ?? null;
  if (!session) return { given, session, status: 401, problem: commentFailed.signedOut };
  const next = await perform(page, given, session).catch((error: unknown): CommentFailure => {
    locals.services.log.error({ err: error, url: url.pathname }, 'A comment form failed');
    return { kind: 'unavailable' };
  });
  if (typeof next === 'string') return { to: next, cookies };
  const status = next.kind === 'unavailable' ? 503 : next.kind === 'limited' ? 429 : 422;
  return { given, session, status, problem: messageOf(next) };
}

/** @param problem the error of the posted form; `null`: nothing was posted */
async function show(
  { locals, response }: Page,
  { article, comments, parent, report, edit, text }: Given,
  session: Session | null,
  problem: string | null,
): Promise<CommentForm | Response> {
  response.headers.set('Cache-Control', 'private, no-store');
  const posted = problem !== null;
  const mine = session
    ? await comments.mine(session, article.id, isPublished(locals.content)).catch(() => noAnswer)
    : noAnswer;
  const own = mine.comments.find(({ id }) => id === edit) ?? null;
  const about = parent || report ? locals.content.comment(parent || report) : null;
  if (!posted && edit && !own) return notFound();
  if (!posted && (parent || report) && about?.articleId !== article.id) return notFound();
  const name = text('name');
  return {
    article,
    about,
    edit,
    mine,
    problem,
    toConfirm: session && !session.emailVerified ? session.email : null,
    mode: report ? 'report' : edit ? 'edit' : 'write',
    content: posted ? text('content') : (own?.content ?? ''),
    name: mine.name === '' || name !== '' ? name : null,
    draft: (posted && text('draft')) || crypto.randomUUID(),
    done: posted ? null : doneMessage(text('state')),
  };
}

const doneMessage = (state: string): string | null =>
  Object.hasOwn(commentDone, state) ? commentDone[state as keyof typeof commentDone] : null;

/** @returns the path to go to, or why the form was not taken */
async function perform(
  page: Page,
  { article, comments, parent, report, edit, text }: Given,
  session: Session,
): Promise<string | CommentFailure> {
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
      // Forms on cached pages have no draft id, so a new one is made here.
      draft: draftPattern.test(text('draft')) ? text('draft') : undefined,
    },
    caller,
  );
  return outcome.ok ? to(outcome.value.status === 'published' ? 'published' : 'waiting') : outcome.failure;
}
