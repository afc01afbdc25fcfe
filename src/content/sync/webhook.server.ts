/**
 * Receives WordPress's notice that something changed (docs/content-api.md, "Webhook"). The receiver trusts only that something changed,
 * and fetches the document again, so that late, duplicate and reordered deliveries all end in WordPress's latest state.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { tag } from '../../lib/content/tags.ts';
import { fileAddresses, fileTags } from '../../lib/images/picture-files.server.ts';
import type { Logger } from '../../lib/logging.ts';
import { diskProblem } from '../../lib/sqlite-files.server.ts';
import type { Content, WebhookAnswer, WebhookRequest } from '../service.ts';
import { type ContentEntry, changedFilesKey } from '../store/entries.server.ts';
import type { Client } from '../wire/client.server.ts';
import { mostClockDifferenceSeconds, SyncProblem } from '../wire/fetch.server.ts';
import * as wire from '../wire/schemas.ts';
import { canonicalSlug } from '../wire/values.ts';
import type { Applied } from './apply.server.ts';
import { showsPage } from './changed-paths.ts';
import { nothingApplied, type Refresh, type SyncContext } from './refresh.server.ts';

/** How long a delivery is remembered, longer than its signature is valid: the signature may be dated five minutes ahead. */
const rememberedMs = 900_000;
const logEveryMs = 60_000;

export interface WebhookOptions extends Pick<SyncContext, 'store' | 'applier' | 'log' | 'now'> {
  readonly refresh: Refresh;
  readonly client: Pick<Client, 'url'>;
  /** Runs the poll now: the webhook says that many documents changed, without naming them. */
  readonly pollNow: () => void;
  readonly secret: string | undefined;
}

/** Why a webhook was refused, as responses, the log and the metrics name it. */
const refusalReasons = [
  'no-secret',
  'signature',
  /** Signed as by version 1.0 of the plugin, without the delivery's id. */
  'outdated-plugin',
  'clock',
  'delivery-id',
  'body',
  'duplicate',
  /** WordPress couldn't be read; it sends the webhook again. */
  'wordpress',
  /** What was read couldn't be stored, as on a full disk; WordPress sends the webhook again. */
  'storage',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

const header = ({ headers }: WebhookRequest, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

const refuse = (
  status: number,
  reason: RefusalReason,
  error: string,
  headers?: Record<string, string>,
): WebhookAnswer => ({
  status,
  body: { ok: false, reason, error },
  ...(headers ? { headers } : {}),
});

const duplicate = refuse(409, 'duplicate', 'this delivery was already processed');

type Hook = ReturnType<typeof wire.webhook.parse>;
type Checked = { readonly delivery: string; readonly hook: Hook };

/** Whether a webhook is from WordPress, recent and valid; if not, the response to it. */
function check(
  request: WebhookRequest,
  secret: string | undefined,
  now: number,
  isTimeChecked = false,
): Checked | WebhookAnswer {
  if (!secret) return refuse(503, 'no-secret', 'NEWSROOM_SECRET is not set on the site', { 'Retry-After': '300' });
  const timestamp = header(request, 'x-newsroom-timestamp');
  const delivery = header(request, 'x-newsroom-delivery');
  const signature = header(request, 'x-newsroom-signature');
  const bytes = typeof request.rawBody === 'string' ? Buffer.from(request.rawBody) : request.rawBody;
  const given = signature.startsWith('sha256=') ? signature.slice(7) : '';
  if (!/^\d{1,12}$/u.test(timestamp) || !matches(sign(secret, `${timestamp}.${delivery}.`, bytes), given)) {
    return matches(sign(secret, `${timestamp}.`, bytes), given)
      ? refuse(401, 'outdated-plugin', 'the signature leaves out the delivery id: update the newsroom plugin')
      : refuse(401, 'signature', 'bad signature: compare NEWSROOM_SECRET with the secret in WordPress');
  }
  const ahead = Number(timestamp) - Math.floor(now / 1000);
  if (!isTimeChecked && Math.abs(ahead) > mostClockDifferenceSeconds) {
    const error = `WordPress's clock is ${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} the site's`;
    return { status: 412, body: { ok: false, reason: 'clock' satisfies RefusalReason, error, ahead } };
  }
  if (!/^[\w-]{8,64}$/u.test(delivery)) return refuse(422, 'delivery-id', "X-Newsroom-Delivery isn't an id");
  let parsed: ReturnType<typeof wire.webhook.safeParse>;
  try {
    parsed = wire.webhook.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return refuse(422, 'body', 'body is not JSON');
  }
  if (parsed.success) return { delivery, hook: parsed.data };
  const issue = parsed.error.issues[0];
  return refuse(422, 'body', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

/** Counts refused webhooks, and logs the first of each kind and then one line a minute: anyone can send invalid requests. */
function createRefusals(log: Logger, now: () => number): Refusals {
  const counts = Object.fromEntries(refusalReasons.map((reason) => [reason, 0])) as Record<RefusalReason, number>;
  const logged = new Map<RefusalReason, { at: number; count: number }>();
  return {
    counts,
    note({ status, body }) {
      const { reason, error } = body as { reason: RefusalReason; error: string };
      const count = ++counts[reason];
      const last = logged.get(reason);
      if (last && Math.abs(now() - last.at) < logEveryMs) return;
      logged.set(reason, { at: now(), count });
      const line = { reason, status, error, refused: count - (last?.count ?? 0) };
      // WordPress repeats a webhook that got no response, so a duplicate isn't an error.
      log[reason === 'duplicate' ? 'info' : 'warn'](line, 'content: webhook refused');
    },
  };
}

interface Refusals {
  readonly counts: Readonly<Record<RefusalReason, number>>;
  note(answer: WebhookAnswer): void;
}

export interface Receiver {
  readonly receive: Content['receive'];
  readonly verify: Content['verify'];
  /** Refused webhooks since the start, by reason. */
  readonly refused: Readonly<Record<RefusalReason, number>>;
}

interface ReceiverState extends WebhookOptions {
  /** Deliveries in progress; a duplicate that arrives during one gets the same result. */
  readonly inProgress: Map<string, Promise<WebhookAnswer>>;
}

/** Creates the receiver. Nothing changes before signature, time, delivery and body are found valid. */
export function createReceiver(options: WebhookOptions): Receiver {
  const refusals = createRefusals(options.log, options.now);
  const receiver: ReceiverState = { ...options, inProgress: new Map() };
  return {
    refused: refusals.counts,
    verify(request) {
      const checked = check(request, options.secret, options.now());
      if (!('status' in checked)) return null;
      refusals.note(checked);
      return checked;
    },
    async receive(request, onAccepted, isTimeChecked) {
      const result = await receive(receiver, request, onAccepted, isTimeChecked);
      if (result.status !== 200) refusals.note(result);
      return result;
    },
  };
}

async function receive(
  receiver: ReceiverState,
  request: WebhookRequest,
  onAccepted: (() => void) | undefined,
  isTimeChecked: boolean | undefined,
): Promise<WebhookAnswer> {
  const { store, secret, now, inProgress } = receiver;
  const checked = check(request, secret, now(), isTimeChecked);
  if ('status' in checked) return checked;
  const { delivery, hook } = checked;
  const seen = store.prepare('SELECT at FROM deliveries WHERE id = ?').get(delivery);
  if (seen && now() - Number(seen.at) < rememberedMs) return duplicate;
  if (inProgress.has(delivery)) {
    const first = await inProgress.get(delivery);
    return first?.status === 200 ? duplicate : refuse(503, 'wordpress', 'send it again', { 'Retry-After': '5' });
  }
  onAccepted?.();
  const processing = processDelivery(receiver, delivery, hook);
  inProgress.set(delivery, processing);
  try {
    return await processing;
  } finally {
    inProgress.delete(delivery);
  }
}

async function processDelivery(options: WebhookOptions, delivery: string, hook: Hook): Promise<WebhookAnswer> {
  const { store, log, now } = options;
  const { event, type, id } = hook;
  const began = performance.now();
  try {
    const { refreshed } = await refreshNamed(options, hook);
    // Recorded only after success: a delivery that failed may be sent again.
    store.prepare('INSERT OR REPLACE INTO deliveries VALUES (?, ?)').run(delivery, now());
    const ms = Math.round(performance.now() - began);
    log.info({ event, type, id, ms }, 'content: webhook processed');
    const shown = type !== 'pages' || showsPage(canonicalSlug(hook.slug ?? ''));
    const invalid = store.prepare('SELECT field, problem FROM rejected WHERE type = ? AND id = ?').get(type, id);
    return { status: 200, body: { ok: true, refreshed, ms, shown, ...(invalid && { invalid }) } };
  } catch (error) {
    const message = diskProblem(error) ?? (error instanceof Error ? error.message : String(error));
    log.error({ event, type, id, error: message }, 'content: webhook failed, WordPress will send it again');
    if (!(error instanceof SyncProblem)) {
      const sentence = 'the site could not store the change, its log says why; send it again';
      return refuse(503, 'storage', sentence, { 'Retry-After': '10' });
    }
    const seconds = Math.max(5, Math.ceil((error.retryAfterMs ?? 10_000) / 1000));
    return refuse(503, 'wordpress', 'WordPress could not be read; send it again', { 'Retry-After': String(seconds) });
  }
}

/** Fetches and stores what a webhook names. */
async function refreshNamed(
  { store, applier, refresh, client, pollNow }: WebhookOptions,
  hook: Hook,
): Promise<Applied> {
  const tries = { tries: 2 };
  if (hook.type === 'categories') return refresh.sections(tries);
  if (hook.type === 'menus') return refresh.menus(tries);
  if (hook.type === 'alerts') return refresh.alert(tries);
  if (hook.type === 'media') return applier.write([changedFilesEntry(hook.addresses ?? [], client.url)]);
  if (hook.type === 'site' && hook.event !== 'test') pollNow();
  if (hook.type === 'site' || hook.type === 'headline-tests' || hook.id === 0) return nothingApplied;
  const applied = await refresh.document(hook.type, hook.id, tries);
  // The content store may not know the document's former slug.
  if (!hook.previous_slug || hook.type === 'comments') return applied;
  const [type, slug] = [hook.type, canonicalSlug(hook.previous_slug)];
  if (store.prepare('SELECT 1 FROM old_slugs WHERE type = ? AND slug = ?').get(type, slug)) return applied;
  const former = await applier.write([{ kind: 'former-slug', type, slug, id: hook.id }]);
  return { ...applied, refreshed: [...new Set([...applied.refreshed, ...former.refreshed])] };
}

/**
 * The entry that makes the site process changed media files again, or refuse them. @param wordpress the address of WordPress
 */
function changedFilesEntry(addresses: readonly string[], wordpress: string): ContentEntry {
  const { host } = new URL(wordpress);
  const files = fileAddresses(addresses, host).map(({ href }) => href);
  if (files.length === 0) return { kind: 'meta', key: changedFilesKey, value: '', tags: [tag.pictures] };
  return { kind: 'meta', key: changedFilesKey, value: JSON.stringify(files), tags: fileTags(addresses, host) };
}

// Signatures of webhooks and previews (docs/content-api.md).

/** HMAC-SHA256 as hex over the parts, one after the other. */
export function sign(secret: string, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** Compares in constant time; a malformed signature is wrong. */
export function matches(expected: string, given: string): boolean {
  if (!/^[0-9a-f]{64}$/iu.test(given)) return false;
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(given, 'hex'));
}
