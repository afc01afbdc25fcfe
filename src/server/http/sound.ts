/**
 * Audio files of restricted stories, and their chapters and transcripts for podcast apps: `/sound/<story>/<number>`. The site checks
 * the reader's access, as for the story's page, and streams the file from WordPress, whose address readers never see. For a private
 * feed, addresses are signed instead, because apps send no cookies. A story that has become free leads to its file.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { isRestrictedLevel } from '../../lib/access/model.ts';
import type { AccessLevel } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { networkOf } from '../../lib/http/network.ts';
import { createOpenCounts } from '../../lib/http/open-counts.ts';
import { episodeFile, episodeFileHeaders } from '../../lib/sound/documents.ts';
import { mayRead } from '../../press/store/stored-page.ts';
import { retryAfter, send, sendText } from './send.ts';
import type { Exchange, ServerState } from './server-options.ts';

const address = /^\/sound\/([1-9]\d{0,15})\/(?:(\d{1,3})(?:\.[a-z\d]{2,5})?|(chapters\.json|transcript\.(?:txt|vtt)))$/;

/** Most files streamed at a time: each holds a connection to WordPress while a reader listens. */
const mostOpen = 200;
/** Most files for one network address: a client that reads slowly must not block all others. */
const mostOfAddress = 40;
/** A player that is paused stops reading; it requests the rest when it continues. */
const idleMs = 60_000;
const timeoutMs = 15_000;

let agent: Agent | undefined;
let open = 0;
const openOfAddress = createOpenCounts();

const connections = (): Agent => {
  agent ??= new Agent({ connections: mostOpen, connect: { timeout: 5000 }, headersTimeout: timeoutMs });
  return agent;
};

/** Request headers that select a part of a file. */
const rangeHeaders = ['range', 'if-range', 'if-none-match', 'if-modified-since'] as const;
/** Headers of WordPress's response that describe the part. */
const partHeaders = ['content-length', 'content-range', 'accept-ranges', 'etag', 'last-modified'] as const;
const passedOn: ReadonlySet<number> = new Set([200, 206, 304, 416]);

/** @returns `false` for other addresses */
export async function answerSound(state: ServerState, exchange: Exchange, url: URL): Promise<boolean> {
  if (!url.pathname.startsWith('/sound/')) return false;
  const [, id = '', number, name = ''] = address.exec(url.pathname) ?? [];
  if (id === '') return refuse(state, exchange, 404);
  const { content, services } = state.options.locals();
  const over = await services.limiter.count('sound', { address: state.addressOf(exchange.incoming) });
  if (over) return refuse(state, exchange, 429, over.retryAfter);
  const articleId = Number(id);
  try {
    return number === undefined
      ? await sendEpisodeFile(state, exchange, content, articleId, name, url)
      : await sendAudio(state, exchange, content, articleId, Number(number), url);
  } catch (error) {
    if (exchange.outgoing.headersSent) throw error;
    state.options.log.warn({ err: error }, "A listener's access couldn't be looked up");
    sendText(state, exchange, 503, lookUpFailed, { 'retry-after': retryAfter });
    return true;
  }
}

const lookUpFailed = 'We couldn’t check your access. Try again in a moment.';

const sentences = {
  403: 'Only readers who may read this story can listen to it. Sign in on the site, or renew your feed.',
  404: 'There is nothing at this address.',
  429: 'Too many requests. Try again later.',
  502: 'This recording isn’t available right now.',
  503: 'Too many people are listening right now. Try again in a moment.',
} as const;

function refuse(state: ServerState, exchange: Exchange, status: keyof typeof sentences, seconds?: number): true {
  const wait = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  sendText(state, exchange, status, sentences[status], wait);
  return true;
}

interface Admission {
  readonly may: boolean;
  /** Cookies for the response. */
  readonly cookies: readonly string[];
  /** Seconds until the request may be repeated. */
  readonly retryAfter?: number;
}

/** Whether this request may have the paid parts of a story. */
async function admits(
  { options }: ServerState,
  incoming: IncomingMessage,
  story: { readonly id: number; readonly slug: string; readonly access: AccessLevel },
  url: URL,
): Promise<Admission> {
  const { pages, renewAccess } = options;
  const { cookie } = incoming.headers;
  if (url.searchParams.has('key')) return admitsSigned(options.locals().services, url.searchParams, story.id);
  if (!pages || !isRestrictedLevel(story.access)) return { may: !isRestrictedLevel(story.access), cookies: [] };
  let level = pages.access.levelFor(cookie);
  let cookies: readonly string[] = [];
  if (level === null) ({ level, cookies } = (await renewAccess?.(cookie, story.access)) ?? { level, cookies });
  const may = mayRead(story.access, level) || (pages.passes?.opens(cookie, `/article/${story.slug}`) ?? false);
  return { may, cookies };
}

/** The same for a signed address of a private feed. */
async function admitsSigned(
  { privateFeeds, limiter }: App.Locals['services'],
  query: URLSearchParams,
  storyId: number,
): Promise<Admission> {
  if (!(await privateFeeds?.grantsAccess(query, storyId))) return { may: false, cookies: [] };
  // A feed counts like its reader's account, because only that reader uses it.
  const over = await limiter.count('sound', { account: query.get('feed') ?? '' });
  return over ? { may: false, cookies: [], retryAfter: over.retryAfter } : { may: true, cookies: [] };
}

/** Refuses a request that isn't admitted. */
const refuseListener = (state: ServerState, exchange: Exchange, { retryAfter: seconds }: Admission): true =>
  seconds === undefined ? refuse(state, exchange, 403) : refuse(state, exchange, 429, seconds);

async function sendEpisodeFile(
  state: ServerState,
  exchange: Exchange,
  content: ContentReader,
  articleId: number,
  name: string,
  url: URL,
): Promise<true> {
  const episode = content.episode(articleId);
  if (!episode) return refuse(state, exchange, 404);
  const admission = await admits(state, exchange.incoming, episode.card, url);
  if (!admission.may) return refuseListener(state, exchange, admission);
  const { cookies } = admission;
  const article = content.article(episode.card.slug);
  const file = episodeFile(episode, article?.podcast ?? null, name);
  if (!file) return refuse(state, exchange, 404);
  const headers: OutgoingHttpHeaders = { ...episodeFileHeaders(file.type), 'cache-control': 'private, max-age=300' };
  if (cookies.length > 0) headers['set-cookie'] = [...cookies];
  send(state, exchange, 200, headers, Buffer.from(file.text));
  return true;
}

async function sendAudio(
  state: ServerState,
  exchange: Exchange,
  content: ContentReader,
  articleId: number,
  number: number,
  url: URL,
): Promise<true> {
  const audio = content.audio(articleId, number);
  if (!audio) return refuse(state, exchange, 404);
  const admission = await admits(state, exchange.incoming, { id: articleId, ...audio }, url);
  if (!admission.may) return refuseListener(state, exchange, admission);
  if (!isRestrictedLevel(audio.access) && !url.searchParams.has('key')) {
    // The page of a free story names its file, too. Streaming it would let anyone take the connections of subscribers and their feeds.
    send(state, exchange, 302, { location: audio.url, 'cache-control': 'private, max-age=300' }, null);
    return true;
  }
  if (open >= mostOpen) return refuse(state, exchange, 503, Number(retryAfter));
  const address = networkOf(state.addressOf(exchange.incoming));
  if (openOfAddress.of(address) >= mostOfAddress) return refuse(state, exchange, 429, Number(retryAfter));
  open++;
  openOfAddress.add(address);
  try {
    await passOn(state, exchange, audio, admission.cookies);
  } finally {
    open--;
    openOfAddress.remove(address);
  }
  return true;
}

/** Streams the file, or the requested part, from its host. Redirects aren't followed: they could lead anywhere. */
async function passOn(
  state: ServerState,
  exchange: Exchange,
  { url, type }: { readonly url: string; readonly type: string },
  cookies: readonly string[],
): Promise<void> {
  const { incoming, outgoing } = exchange;
  const { log, security } = state.options;
  const hangUp = new AbortController();
  outgoing.once('close', () => hangUp.abort());
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(url, {
      method: incoming.method === 'HEAD' ? 'HEAD' : 'GET',
      dispatcher: connections(),
      headers: { accept: 'audio/*', ...askedFor(incoming) },
      signal: hangUp.signal,
    });
  } catch (error) {
    if (outgoing.destroyed) return;
    log.warn({ err: error, file: url }, "An audio file couldn't be fetched");
    refuse(state, exchange, 502);
    return;
  }
  const sent = String(answer.headers['content-type'] ?? '');
  const isAudio =
    answer.statusCode === 304 || answer.statusCode === 416 || /^(?:audio\/|application\/ogg\b)/i.test(sent);
  if (!passedOn.has(answer.statusCode) || !isAudio) {
    answer.body.on('error', () => {}).destroy();
    log.warn({ status: answer.statusCode, type: sent, file: url }, "An audio file couldn't be fetched");
    refuse(state, exchange, answer.statusCode === 404 ? 404 : 502);
    return;
  }
  outgoing.writeHead(answer.statusCode, {
    ...security.always,
    ...pick(answer.headers, partHeaders),
    'content-security-policy': security.other,
    'content-type': type || sent,
    // Only for this reader's browser, so that it doesn't load again what it has played.
    'cache-control': 'private, max-age=3600',
    ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
  });
  outgoing.setTimeout(idleMs, () => outgoing.destroy());
  // A reader who leaves ends the connection, which isn't an error.
  await pipeline(answer.body, outgoing).catch(() => {});
}

/**
 * Headers for the requested part. For several parts at once the client gets the whole file: no player requests them, and a multipart
 * response isn't audio.
 */
function askedFor({ headers }: IncomingMessage): Record<string, string> {
  const { range, ...others } = pick(headers, rangeHeaders);
  return range === undefined || range.includes(',') ? others : { ...others, range };
}

function pick(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}
