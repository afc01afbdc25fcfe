/**
 * Client of WordPress's comment moderation (spec section 7; docs/content-api.md): WordPress stores the comments.
 * WordPress's responses contain users' addresses, so only a comment's id and state are read.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { instantAt } from '../instants.ts';
import { parseJson } from '../json.ts';

export interface ModerationSettings {
  /** Address of WordPress, without a trailing slash. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly fetch?: typeof globalThis.fetch;
}

export type ModerationStatus = 'approved' | 'hold' | 'spam' | 'trash';

export type ModerationAnswer =
  | { readonly ok: true; readonly id: number; readonly status: ModerationStatus }
  /** WordPress refuses; `code` is its error code. */
  | { readonly ok: false; readonly kind: 'refused'; readonly status: number; readonly code: string }
  /** No response, or an invalid one: WordPress may still have carried out the request. */
  | { readonly ok: false; readonly kind: 'unavailable'; readonly why: string };

export interface NewComment {
  readonly articleId: number;
  readonly parentId: number;
  readonly name: string;
  readonly email: string;
  /** Whether the user has confirmed the address. Only then WordPress takes earlier comments of the address into account. */
  readonly confirmed: boolean;
  /** Network address and browser of the user, for spam filters. */
  readonly address: string;
  readonly userAgent: string | null;
  /** HTML, see `asMarkup` in model.ts. */
  readonly content: string;
  /** Epoch milliseconds. */
  readonly date: number;
  /** Our id: the plugin creates one comment for it, however often it is sent. */
  readonly key: string;
}

export interface Moderation {
  post(comment: NewComment): Promise<ModerationAnswer>;
  /** Changes the text; WordPress decides whether it must be approved again. */
  edit(id: number, content: string): Promise<ModerationAnswer>;
  /** Moves it to the trash. */
  remove(id: number): Promise<ModerationAnswer>;
  /** The comment with our id; refused with 404 where WordPress has none. */
  find(key: string): Promise<ModerationAnswer>;
  /** The state of a comment. */
  fetchStatus(id: number): Promise<ModerationAnswer>;
  /** Sends the number of reports; from `holdAt` unreviewed reports on, the comment waits for approval again. */
  report(id: number, count: number, holdAt: number): Promise<ModerationAnswer>;
  /** Removes its author's name, email and network address. */
  erase(id: number): Promise<ModerationAnswer>;
}

const timeoutMs = 12_000;
/** Characters: a comment and what plugins add to it. */
const longestAnswer = 512 * 1024;

const answered = z.object({
  id: z.int().positive(),
  status: z.string().transform((status): ModerationStatus => {
    if (status === 'approved' || status === 'approve' || status === '1') return 'approved';
    return status === 'spam' || status === 'trash' ? status : 'hold';
  }),
});

/** Fields of a comment in WordPress's REST API (class-wp-rest-comments-controller.php), and the plugin's own. */
interface PostedComment {
  post: number;
  parent: number;
  author_name: string;
  author_email: string;
  author_ip?: string;
  author_user_agent?: string;
  content: string;
  date: string;
  newsroom_key: string;
  newsroom_unconfirmed?: true;
}

interface EditedComment {
  content: string;
  newsroom_author: true;
}

interface Reports {
  count: number;
  hold_at: number;
}

function postedComment(comment: NewComment): PostedComment {
  const { articleId, parentId, name, email, confirmed, address, userAgent, content, date, key } = comment;
  const posted: PostedComment = {
    post: articleId,
    parent: parentId,
    author_name: name,
    author_email: email,
    content,
    date: instantAt(date),
    newsroom_key: key,
  };
  if (isIP(address) > 0) posted.author_ip = address;
  if (userAgent !== null) posted.author_user_agent = userAgent.slice(0, 250);
  if (!confirmed) posted.newsroom_unconfirmed = true;
  return posted;
}

export function createModeration(settings: ModerationSettings): Moderation {
  const { url, user, password, fetch = globalThis.fetch } = settings;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  async function ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: PostedComment | EditedComment | Reports,
  ): Promise<ModerationAnswer> {
    let response: Response;
    let text: string;
    const headers: Record<string, string> = { authorization, accept: 'application/json' };
    if (body) headers['content-type'] = 'application/json';
    try {
      response = await fetch(`${url}/wp-json${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
        // A redirect would turn POST into GET and send the password to another server.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      return { ok: false, kind: 'unavailable', why: reason(error) };
    }
    if (text.length > longestAnswer) return { ok: false, kind: 'unavailable', why: 'the answer is too long' };
    const json = parseJson(text);
    if (response.ok) {
      const read = answered.safeParse(json);
      if (read.success) return { ok: true, ...read.data };
      return { ok: false, kind: 'unavailable', why: `status ${response.status} without a comment` };
    }
    const code = z.object({ code: z.string() }).safeParse(json);
    // Only WordPress itself sends codes; a response without one comes from a proxy.
    if (!code.success || response.status >= 500 || response.status === 429) {
      return { ok: false, kind: 'unavailable', why: `status ${response.status}` };
    }
    return { ok: false, kind: 'refused', status: response.status, code: code.data.code };
  }

  return {
    post: (comment) => ask('POST', '/wp/v2/comments', postedComment(comment)),
    edit: (id, content) => ask('POST', `/wp/v2/comments/${id}`, { content, newsroom_author: true }),
    remove: (id) => ask('DELETE', `/wp/v2/comments/${id}`),
    find: (key) => ask('GET', `/newsroom/v1/comments?key=${encodeURIComponent(key)}`),
    fetchStatus: (id) => ask('GET', `/wp/v2/comments/${id}?_fields=id,status`),
    report: (id, count, holdAt) => ask('POST', `/newsroom/v1/comments/${id}/reports`, { count, hold_at: holdAt }),
    erase: (id) => ask('DELETE', `/newsroom/v1/comments/${id}/author`),
  };
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string' ? cause.code : 'no answer';
}
