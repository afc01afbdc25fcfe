/**
 * Client of WordPress's comment moderation: WordPress is the store of comments (spec section 7; vendors.md 2.3; docs/content-api.md). What comes back
 * in its edit context holds addresses; only a comment's number and state are read out of it.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

export interface ModerationSettings {
  /** Address of WordPress without a slash at its end. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Milliseconds after which no answer is waited for. */
  readonly patienceMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

export type ModerationStatus = 'approved' | 'hold' | 'spam' | 'trash';

export type ModerationAnswer =
  | { readonly ok: true; readonly id: number; readonly status: ModerationStatus }
  /** WordPress says no; `code` is its own word for why. */
  | { readonly ok: false; readonly kind: 'refused'; readonly status: number; readonly code: string }
  /** No answer, or none that makes sense: it may have been done all the same. */
  | { readonly ok: false; readonly kind: 'unavailable'; readonly why: string };

export interface NewComment {
  readonly articleId: number;
  readonly parentId: number;
  readonly name: string;
  readonly email: string;
  /** Whether the user has confirmed the address. WordPress trusts earlier comments of an address only then. */
  readonly confirmed: boolean;
  /** Network address of the reader, and the browser: spam filters judge by them. */
  readonly address: string;
  readonly userAgent: string | null;
  /** Markup, see text.ts. */
  readonly content: string;
  /** Epoch milliseconds. */
  readonly date: number;
  /** Our own number of it: the plugin makes one comment of it, however often it comes. */
  readonly key: string;
}

export interface Moderation {
  post(comment: NewComment): Promise<ModerationAnswer>;
  /** Changes the words; whether it has to be approved anew is WordPress's to say. */
  edit(id: number, content: string): Promise<ModerationAnswer>;
  /** Puts it into the bin. */
  remove(id: number): Promise<ModerationAnswer>;
  /** The comment with our own number; refused with 404 where WordPress has none. */
  find(key: string): Promise<ModerationAnswer>;
  /** What became of a comment. */
  look(id: number): Promise<ModerationAnswer>;
  /** Says how many readers have reported it; from `holdAt` reports on that no editor has seen, it waits for approval again. */
  report(id: number, count: number, holdAt: number): Promise<ModerationAnswer>;
  /** Takes name, e-mail and network address from it. */
  erase(id: number): Promise<ModerationAnswer>;
}

const usualPatienceMs = 12_000;
/** A comment and what plugins put beside it. */
const longestAnswer = 512 * 1024;

const answered = z.object({
  id: z.int().positive(),
  status: z.string().transform((status): ModerationStatus => {
    if (status === 'approved' || status === 'approve' || status === '1') return 'approved';
    return status === 'spam' || status === 'trash' ? status : 'hold';
  }),
});

/** Fields of a comment in WordPress's REST interface (class-wp-rest-comments-controller.php), and the plugin's own beside them. */
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
    date: `${new Date(date).toISOString().slice(0, 19)}Z`,
    newsroom_key: key,
  };
  if (isIP(address) > 0) posted.author_ip = address;
  if (userAgent !== null) posted.author_user_agent = userAgent.slice(0, 250);
  if (!confirmed) posted.newsroom_unconfirmed = true;
  return posted;
}

/** Talks to one WordPress. */
export function createModeration(settings: ModerationSettings): Moderation {
  const { url, user, password, patienceMs = usualPatienceMs, fetch = globalThis.fetch } = settings;
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
        // A redirect would turn POST into GET, and take the password elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(patienceMs),
      });
      text = await response.text();
    } catch (error) {
      return { ok: false, kind: 'unavailable', why: reason(error) };
    }
    if (text.length > longestAnswer) return { ok: false, kind: 'unavailable', why: 'the answer is too long' };
    const json = parse(text);
    if (response.ok) {
      const read = answered.safeParse(json);
      if (read.success) return { ok: true, ...read.data };
      return { ok: false, kind: 'unavailable', why: `status ${response.status} without a comment` };
    }
    const code = z.object({ code: z.string() }).safeParse(json);
    // Only WordPress itself has codes: anything else stands in its way.
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
    look: (id) => ask('GET', `/wp/v2/comments/${id}?_fields=id,status`),
    report: (id, count, holdAt) => ask('POST', `/newsroom/v1/comments/${id}/reports`, { count, hold_at: holdAt }),
    erase: (id) => ask('DELETE', `/newsroom/v1/comments/${id}/author`),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string' ? cause.code : 'no answer';
}
