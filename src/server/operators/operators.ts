/**
 * The operators' routes: `/-/press`, which shows the state of the press and refreshes pages by hand, and `/metrics`. Both exist
 * only where OPERATOR_TOKEN is set, and require it: as `Authorization: Bearer`, or in a form that opens a session of two hours
 * (operator-access.ts).
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Content } from '../../content/service.ts';
import type { Cdn, CdnStats } from '../../lib/cdn/cdn.server.ts';
import type { BlockedSource, CspReports } from '../../lib/csp-reports/collector.server.ts';
import { DatabaseUnavailable } from '../../lib/database.ts';
import { tooManyTries } from '../../lib/http/answer.ts';
import { readCookies, setCookie } from '../../lib/http/cookies.server.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { VitalsCollector } from '../../lib/vitals/collector.server.ts';
import { type VitalsFigure, vitalsPath } from '../../lib/vitals/model.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import type { Press, PressStats } from '../../press/press.server.ts';
import { reportPath } from '../http/security-headers.ts';
import type { OperatorRoutes } from '../http/server-options.ts';
import type { StripeProblems } from '../readers.ts';
import type { Metrics, ServerCounts } from './metrics.ts';
import {
  createOperatorAccess,
  type OperatorAccessOptions,
  sessionSeconds,
  type TokenResult,
} from './operator-access.ts';

/** Data of the page, collected for each request. */
export interface OperatorsView {
  readonly signedIn: boolean;
  /** Result of the form that was sent; `null`: none was. */
  readonly notice: { readonly kind: 'done' | 'problem'; readonly text: string } | null;
  /** `null` for callers who have not signed in. */
  readonly figures: {
    readonly press: PressStats;
    readonly server: ServerCounts;
    /** Whether there are serving workers, whose responses aren't in `server`. */
    readonly hasServingWorkers: boolean;
    readonly sync: { readonly phase: string; readonly syncedAt: string | null; readonly problem: string | null };
    readonly cdn: CdnStats;
    readonly stripe: StripeProblems | null;
    /** Sources that the content security policy has blocked. */
    readonly blocked: readonly BlockedSource[];
    /** How fast pages are for readers, measured through this process. */
    readonly vitals: readonly VitalsFigure[];
    readonly memoryBytes: number;
    readonly upSeconds: number;
  } | null;
}

export interface OperatorsOptions extends Pick<OperatorAccessOptions, 'token' | 'database' | 'limiter'> {
  readonly siteUrl: string;
  readonly press: Pick<Press, 'stats' | 'refresh' | 'invalidate'>;
  readonly keyOf: KeyOf;
  readonly cdn: Pick<Cdn, 'purge' | 'stats'>;
  /** `null` where billing is off. */
  readonly stripe: () => StripeProblems | null;
  readonly reports: Pick<CspReports, 'receive' | 'list'>;
  readonly vitals: Pick<VitalsCollector, 'receive'>;
  /** Network address of the caller. */
  readonly clientAddress: (incoming: IncomingMessage) => string;
  readonly content: Pick<Content, 'status'>;
  readonly metrics: Metrics;
  readonly server: () => ServerCounts;
  /** Whether other processes serve cached pages, too. */
  readonly hasServingWorkers: boolean;
  /** Headers of every response. */
  readonly always: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly now?: () => number;
  /** Longest wait for a refresh before the page responds, milliseconds. */
  readonly timeoutMs?: number;
}

/** Cookie of an operator's session. */
export const operatorCookieName = 'operator';
const page = '/-/press';

/** Messages after a form. The address names one of them, so that a link cannot put its own text into the page. */
const notices: Readonly<Record<string, { readonly kind: 'done' | 'problem'; readonly text: string }>> = {
  refreshed: { kind: 'done', text: 'Done: the pages are fresh. In a cluster, repeat this on each node.' },
  unchanged: { kind: 'done', text: 'Done: the pages were rendered again and didn’t change.' },
  waiting: { kind: 'done', text: 'In progress: the list below shows when it is done.' },
  nothing: { kind: 'problem', text: 'No cached page has this tag.' },
  failed: { kind: 'problem', text: 'The render failed, so readers still get the old page. The reason is below.' },
  address: { kind: 'problem', text: 'Page: not the address of a cached page. Enter a path such as /section/politics.' },
  tag: { kind: 'problem', text: 'Tag: not a tag. Enter one such as article:12, section:politics or site.' },
  token: { kind: 'problem', text: 'Token: doesn’t match OPERATOR_TOKEN.' },
};

interface OperatorsState extends OperatorsOptions {
  readonly timeoutMs: number;
  readonly access: ReturnType<typeof createOperatorAccess>;
}

/** Creates the routes. The caller has checked that the token is set. */
export function createOperators(options: OperatorsOptions): OperatorRoutes {
  const access = createOperatorAccess({ now: Date.now, ...options });
  const operators: OperatorsState = { timeoutMs: 10_000, ...options, access };
  return {
    answer: (incoming, outgoing, url, readBody) =>
      route(operators, incoming, replyTo(outgoing, options.always), url, readBody),
    view: (incoming, url) => view(operators, incoming, url),
  };
}

const cookieOf = ({ headers }: IncomingMessage): string => readCookies(headers.cookie, operatorCookieName)[0] ?? '';

const sessionCookie = ({ siteUrl }: OperatorsState, value: string, maxAge: number): OutgoingHttpHeaders => ({
  'set-cookie': setCookie(operatorCookieName, value, {
    maxAge,
    httpOnly: true,
    secure: siteUrl.startsWith('https:'),
    sameSite: 'Strict',
  }),
});

/** Result of the token in `Authorization`; `null`: there is none. */
async function byToken(operators: OperatorsState, incoming: IncomingMessage): Promise<TokenResult | null> {
  const { authorization } = incoming.headers;
  if (authorization === undefined) return null;
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  return given === undefined ? null : operators.access.tryToken(given, operators.clientAddress(incoming));
}

const mayEnter = async (operators: OperatorsState, incoming: IncomingMessage): Promise<boolean> =>
  (await byToken(operators, incoming))?.kind === 'right' || (await operators.access.isOpen(cookieOf(incoming)));

/** Sends a response. */
type Reply = (status: number, headers?: OutgoingHttpHeaders, body?: string) => true;

const replyTo =
  (outgoing: ServerResponse, always: OperatorsOptions['always']): Reply =>
  (status, headers = {}, body = '') => {
    outgoing.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...always,
      ...headers,
      'content-length': Buffer.byteLength(body),
    });
    outgoing.end(body);
    return true;
  };

const redirect = (reply: Reply, notice: string | null, headers: OutgoingHttpHeaders = {}): true =>
  reply(303, { location: notice ? `${page}?notice=${notice}` : page, ...headers });

/** Old browsers send our cookie with another site's form; the origin shows where the form comes from. */
function isOurForm(operators: OperatorsState, { headers }: IncomingMessage): boolean {
  const from = headers['sec-fetch-site'];
  return headers.origin === operators.siteUrl && (from === undefined || from === 'same-origin');
}

async function act(operators: OperatorsState, form: URLSearchParams): Promise<string> {
  const value = (form.get('value') ?? '').trim().slice(0, 1000);
  let work: ReturnType<Press['refresh']>;
  if (form.get('action') === 'refresh-path') {
    const key = operators.keyOf('GET', value);
    if (key.kind !== 'page') return 'address';
    operators.log.info({ page: key.key }, 'An operator requested a render of a page');
    work = operators.press.refresh([key.key], 'requested by an operator');
  } else {
    if (!/^[\x21-\x7e]{1,200}$/.test(value)) return 'tag';
    operators.log.info({ tag: value }, 'An operator requested renders of a tag’s pages');
    // No content has changed, so the page that the nodes of a cluster share would count as current.
    work = operators.press.invalidate([value], { reason: 'requested by an operator', unshared: true });
    void work.then(() => operators.cdn.purge([value]));
  }
  const result = await withTimeLimit(operators.timeoutMs, work, () => null);
  if (!result) return 'waiting';
  if (result.failed > 0) return 'failed';
  if (result.refreshed.length > 0) return 'refreshed';
  return result.unchanged > 0 ? 'unchanged' : 'nothing';
}

async function signIn(
  operators: OperatorsState,
  incoming: IncomingMessage,
  reply: Reply,
  given: string,
): Promise<true> {
  const tried = await operators.access.tryToken(given, operators.clientAddress(incoming));
  if (tried.kind === 'limited')
    return reply(429, { 'retry-after': String(tried.retryAfter) }, `${tooManyTries(tried.retryAfter)}\n`);
  if (tried.kind === 'wrong') return redirect(reply, 'token');
  try {
    return redirect(reply, null, sessionCookie(operators, await operators.access.open(), sessionSeconds));
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    return reply(
      503,
      {},
      'The database is unavailable. Send the token in the header "Authorization: Bearer" instead.\n',
    );
  }
}

async function post(
  operators: OperatorsState,
  incoming: IncomingMessage,
  reply: Reply,
  readBody: () => Promise<string>,
): Promise<true> {
  const signedByToken = (await byToken(operators, incoming))?.kind === 'right';
  if (!signedByToken && !isOurForm(operators, incoming)) return reply(403, {}, 'This form comes from another site.\n');
  const form = new URLSearchParams(await readBody());
  const action = form.get('action');
  if (action === 'sign-in') return signIn(operators, incoming, reply, (form.get('token') ?? '').trim());
  if (!signedByToken && !(await operators.access.isOpen(cookieOf(incoming))))
    return reply(401, challenge, 'Sign in first.\n');
  if (action === 'sign-out') {
    await operators.access.close(cookieOf(incoming));
    return redirect(reply, null, sessionCookie(operators, '', 0));
  }
  if (action !== 'refresh-path' && action !== 'refresh-tag') return reply(422, {}, 'Unknown action.\n');
  return redirect(reply, await act(operators, form));
}

/** Allows only our own pages to send reports, for browsers that treat them as another origin (Fetch, "CORS protocol"). */
const reportHeaders = (operators: OperatorsState, incoming: IncomingMessage): OutgoingHttpHeaders =>
  incoming.headers.origin === operators.siteUrl
    ? { vary: 'Origin', 'access-control-allow-origin': operators.siteUrl }
    : { vary: 'Origin' };

/** Responds to a preflight, which browsers send because of the Reporting API's media type. */
function reportPreflight(operators: OperatorsState, incoming: IncomingMessage, reply: Reply): true {
  const headers = reportHeaders(operators, incoming);
  if (headers['access-control-allow-origin']) {
    headers['access-control-allow-methods'] = 'POST';
    headers['access-control-allow-headers'] = 'content-type';
    headers['access-control-max-age'] = '86400';
  }
  return reply(204, headers);
}

/** Reports and measurements from browsers, without a token. The rest of a refused body isn't read. */
async function receive(
  operators: OperatorsState,
  collector: 'reports' | 'vitals',
  incoming: IncomingMessage,
  reply: Reply,
  headers: OutgoingHttpHeaders = {},
): Promise<true> {
  const { status, retryAfter } = await operators[collector].receive(incoming, operators.clientAddress(incoming));
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (status >= 400) headers.connection = 'close';
  return reply(status, headers);
}

async function route(
  operators: OperatorsState,
  incoming: IncomingMessage,
  reply: Reply,
  { pathname }: URL,
  readBody: () => Promise<string>,
): Promise<boolean> {
  // Only methods that the address allows arrive here (../http/methods.ts).
  const { method } = incoming;
  if (pathname === '/metrics') {
    if (!(await mayEnter(operators, incoming))) return reply(401, challenge, 'OPERATOR_TOKEN is required.\n');
    const { contentType, text } = operators.metrics;
    return reply(200, { 'content-type': contentType }, await text());
  }
  if (pathname === reportPath) {
    if (method === 'OPTIONS') return reportPreflight(operators, incoming, reply);
    return receive(operators, 'reports', incoming, reply, reportHeaders(operators, incoming));
  }
  // Browsers don't read the response.
  if (pathname === vitalsPath) return receive(operators, 'vitals', incoming, reply);
  return pathname === page && method === 'POST' && post(operators, incoming, reply, readBody);
}

async function view(
  operators: OperatorsState,
  incoming: IncomingMessage,
  url: URL,
): Promise<OperatorsView | undefined> {
  const signedIn = await mayEnter(operators, incoming);
  const notice = notices[url.searchParams.get('notice') ?? ''] ?? null;
  const { phase, syncedAt, problem } = operators.content.status();
  return {
    signedIn,
    notice,
    figures: signedIn
      ? {
          press: operators.press.stats(),
          server: { ...operators.server() },
          hasServingWorkers: operators.hasServingWorkers,
          sync: { phase, syncedAt, problem },
          cdn: operators.cdn.stats(),
          stripe: operators.stripe(),
          blocked: operators.reports.list(),
          vitals: await operators.metrics.vitals(),
          memoryBytes: process.memoryUsage().rss,
          upSeconds: Math.round(process.uptime()),
        }
      : null,
  };
}

const challenge: OutgoingHttpHeaders = { 'www-authenticate': 'Bearer realm="operators"' };
