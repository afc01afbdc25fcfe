/**
 * Webhooks of WordPress, which may reach any node: it passes them on to the node that syncs, and answers when its own content store has
 * the change. A new holder gets the webhooks that aren't answered yet.
 */
import type { Content, WebhookAnswer, WebhookRequest } from '../../content/service.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { inSpan } from '../../lib/tracing.ts';
import { type AnswerMessage, bodyOf, longestMessage, type Message, type WebhookMessage, webhookOf } from './channel.ts';
import type { ClusterLog } from './cluster-log.ts';
import type { ClusterNode } from './node.ts';
import { withdrawMs } from './purges.ts';

export interface WebhooksOptions {
  readonly node: Pick<ClusterNode, 'id' | 'epoch' | 'otherVersions' | 'send' | 'waitForAllNodes' | 'waitForRevision'>;
  readonly clusterLog: Pick<ClusterLog, 'version' | 'leads'>;
  readonly content: Pick<Content, 'receive' | 'verify' | 'followed'>;
  readonly log: Logger;
  /** Makes this node the one that syncs, while it has the lease. @returns whether it is */
  readonly takeOver: () => Promise<boolean>;
  /** Called when a valid webhook of WordPress has reached this node. */
  readonly onTaken: () => void;
  /** Milliseconds in which a webhook has to be answered (default 9000: the plugin waits ten seconds). */
  readonly webhookMs?: number | undefined;
}

export interface Webhooks {
  /** Receives a webhook of WordPress. */
  readonly receive: Content['receive'];
  /** Handles what another node has sent about a webhook. */
  handle(message: Message): void;
  /** Passes unanswered webhooks on again: they, their answers or the message about a new holder may have been lost. */
  passOnAgain(): void;
  stats(): WebhooksStats;
}

export interface WebhooksStats {
  /** Webhooks passed on to the node that syncs, and webhooks received from other nodes. */
  readonly passedOn: number;
  readonly received: number;
}

interface State extends WebhooksOptions {
  readonly webhookMs: number;
  /** Webhooks that wait for the holder's answer, by number. */
  readonly unanswered: Map<number, { readonly message: WebhookMessage; answer(answer: AnswerMessage | null): void }>;
  readonly counts: { passedOn: number; received: number };
  /** Number of the latest message. */
  sent: number;
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const state: State = {
    ...options,
    webhookMs: options.webhookMs ?? 9000,
    unanswered: new Map(),
    counts: { passedOn: 0, received: 0 },
    sent: 0,
  };
  return {
    receive: (request, onAccepted) => receive(state, request, onAccepted),
    handle: (message) => handle(state, message),
    passOnAgain: () => passOnUnanswered(state),
    stats: () => ({ ...state.counts }),
  };
}

function handle(state: State, { webhook, answer, lease }: Message): void {
  const { version } = state.clusterLog;
  if (webhook && state.node.epoch !== null && (webhook.version ?? version) === version) {
    // A stopping node has closed its content store: the node that received the webhook asks the next holder, or WordPress sends the webhook
    // again.
    answerWebhook(state, webhook).catch((error: unknown) =>
      state.log.warn({ err: error }, "A webhook of another node couldn't be answered"),
    );
  }
  if (answer?.to === state.node.id) receiveAnswer(state, answer);
  // The previous holder may not have received these.
  if (lease !== undefined) passOnUnanswered(state);
}

/** An answer from another version says nothing about the nodes of this version. */
function receiveAnswer({ unanswered }: State, answer: AnswerMessage): void {
  const asked = unanswered.get(answer.id);
  if (asked && (answer.version ?? asked.message.version) === asked.message.version) asked.answer(answer);
}

const unavailable = (error: string): WebhookAnswer => ({
  status: 503,
  headers: { 'Retry-After': '5' },
  body: { ok: false, reason: 'cluster', error },
});

async function receive(state: State, request: WebhookRequest, onTaken?: () => void): Promise<WebhookAnswer> {
  const refused = state.content.verify(request);
  if (refused) return refused;
  const [answer, failure] = await Promise.all([receiveForOwn(state, request, onTaken), passOnToOthers(state, request)]);
  const isHandled = answer.status === 200 || answer.status === 409;
  return isHandled && failure ? failure : answer;
}

/** Handles a webhook for the nodes whose content stores have this node's version. */
function receiveForOwn(state: State, request: WebhookRequest, onTaken?: () => void): Promise<WebhookAnswer> {
  const taken = (): void => {
    state.onTaken();
    onTaken?.();
  };
  if (state.node.epoch !== null) return receiveAsHolder(state, request, taken);
  taken();
  return passOnAndWait(state, request, state.clusterLog.version);
}

/**
 * Passes a webhook on to the nodes of other versions: during a release each version of the content store has its own log and holder.
 *
 * @returns the answer of a holder that failed to handle it; refusals by another build are ignored
 */
async function passOnToOthers(state: State, request: WebhookRequest): Promise<WebhookAnswer | undefined> {
  // Without PostgreSQL this node responds with 503 anyway.
  const versions = await state.node.otherVersions().catch(() => []);
  const answers = await Promise.all(versions.map((version) => passOnAndWait(state, request, version)));
  return answers.find(({ status }) => status >= 500);
}

/** Handles a webhook on the node that syncs; withdrawn content is gone on every node before it is answered. */
async function receiveAsHolder(
  state: State,
  request: WebhookRequest,
  onAccepted?: () => void,
  isTimeChecked?: boolean,
): Promise<WebhookAnswer> {
  if (!state.clusterLog.leads()) {
    if (!(await withTimeLimit(state.webhookMs / 2, state.takeOver(), () => false).catch(() => false)))
      return unavailable("the node that syncs with WordPress isn't ready yet; send it again");
  }
  const answer = await state.content.receive(request, onAccepted, isTimeChecked);
  // A duplicate (409) may come while the first one still waits for the other nodes.
  if (answer.status !== 200 && answer.status !== 409) return answer;
  const revision = state.content.followed.revision();
  const everywhere = await state.node.waitForAllNodes('applied', revision, withdrawMs);
  if (!everywhere)
    state.log.warn({ revision }, "Some nodes don't show the latest change yet; they aren't ready until they do");
  return answer;
}

function messageOf(state: State, { headers, rawBody }: WebhookRequest, version: number): WebhookMessage | null {
  // Only the headers that the verification needs: others may identify the sender.
  const signed = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('x-newsroom-') && typeof value === 'string' ? [[name, value] as const] : [],
  );
  const message = { from: state.node.id, id: ++state.sent, headers: Object.fromEntries(signed), version };
  return webhookOf(message, Buffer.from(rawBody));
}

/** Passes a webhook on; if that is impossible, it is answered at once. */
const passOn = (state: State, webhook: WebhookMessage): void =>
  void state.node.send({ webhook }).catch((error: Error) => {
    state.log.warn({ problem: error.message }, "A webhook couldn't be passed on; WordPress will send it again");
    state.unanswered.get(webhook.id)?.answer(null);
  });

/** Passes unanswered webhooks on again; the holder handles each delivery only once. */
function passOnUnanswered(state: State): void {
  for (const { message } of state.unanswered.values()) passOn(state, message);
}

/** Passes a webhook on to the node that syncs into the content log of a version; a new holder gets it again. */
async function passOnAndWait(state: State, request: WebhookRequest, version: number): Promise<WebhookAnswer> {
  const { unanswered, node, webhookMs, clusterLog, counts } = state;
  const message = messageOf(state, request, version);
  if (!message) return unavailable('the webhook is too long to be passed on');
  counts.passedOn++;
  const { promise, resolve } = Promise.withResolvers<AnswerMessage | null>();
  unanswered.set(message.id, { message, answer: resolve });
  passOn(state, message);
  const answer = await withTimeLimit(webhookMs, promise, () => null);
  unanswered.delete(message.id);
  if (!answer) return unavailable("the node that syncs with WordPress didn't answer; send it again");
  if (answer.status === 200 && version === clusterLog.version) await node.waitForRevision(answer.revision, 2000);
  const { status, headers, body } = answer;
  return { status, body, ...(headers ? { headers } : {}) };
}

/** Handles a webhook that another node has received. */
async function answerWebhook(state: State, { from, id, headers, ...packed }: WebhookMessage): Promise<void> {
  state.counts.received++;
  // The node that received it has checked its time; this node's clock may be another.
  const request: WebhookRequest = { headers, rawBody: bodyOf(packed) };
  const { status, ...rest } = await inSpan('webhook passed on', {}, async (span) => {
    const answer = await receiveAsHolder(state, request, undefined, true);
    span.set({ 'broadsheet.webhook.status': answer.status });
    return answer;
  });
  const revision = state.content.followed.revision();
  const answer: AnswerMessage = {
    to: from,
    id,
    // The previous holder may have handled it, and only its answer was lost.
    status: status === 409 ? 200 : status,
    body: shortened(rest.body as Record<string, unknown>),
    revision,
    version: state.clusterLog.version,
    ...(rest.headers ? { headers: { ...rest.headers } } : {}),
  };
  await state.node.send({ answer }).catch(() => {});
}

/** The body without the list of fresh pages where it is too long for a message. */
const shortened = (body: Record<string, unknown>): Record<string, unknown> =>
  JSON.stringify(body).length < longestMessage - 1000 ? body : { ...body, refreshed: [] };
