/**
 * WordPress's word that something changed (docs/content-api.md, "Webhook"). It is believed only in that something happened: the
 * document is fetched again, so that late, doubled and disordered deliveries all end in WordPress's latest state.
 */
import type { Logger } from '../lib/logging.ts';
import type { Applied, Applier } from './apply.server.ts';
import { SyncProblem } from './fetching.server.ts';
import { type Items, nothingApplied } from './items.server.ts';
import type { Mirror } from './mirror.server.ts';
import type { Content, WebhookAnswer, WebhookRequest } from './service.ts';
import { matches, sign } from './signature.server.ts';
import { canonicalSlug } from './slugs.ts';
import { rememberSlug } from './store.server.ts';
import * as wire from './wire.ts';

const windowSeconds = 300;
const rememberedMs = 600_000;

export interface WebhookOptions {
  readonly mirror: Mirror;
  readonly applier: Applier;
  readonly items: Items;
  readonly log: Logger;
  readonly now: () => number;
  readonly secret: string | undefined;
}

const header = ({ headers }: WebhookRequest, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

const refuse = (status: number, error: string, headers?: Record<string, string>): WebhookAnswer => ({
  status,
  body: { ok: false, error },
  ...(headers ? { headers } : {}),
});

/** Makes the receiver. Nothing changes before signature, time, delivery and body have been found good. */
export function createReceiver({ mirror, applier, items, log, now, secret }: WebhookOptions): Content['receive'] {
  /** Deliveries that are being worked on; the same one arriving meanwhile waits for the outcome. */
  const underWay = new Map<string, Promise<WebhookAnswer>>();

  const act = async (hook: ReturnType<typeof wire.webhook.parse>): Promise<Applied> => {
    const options = { tries: 2 };
    switch (hook.type) {
      case 'site':
        return nothingApplied;
      case 'categories':
        return items.sections(options);
      case 'menus':
        return items.menus(options);
      default: {
        if (hook.id === 0) return nothingApplied;
        const applied = await items.one(hook.type, hook.id, options);
        // The mirror may never have seen the document under its former slug.
        if (!hook.previous_slug || hook.type === 'comments') return applied;
        const [type, slug] = [hook.type, canonicalSlug(hook.previous_slug)];
        if (mirror.prepare('SELECT 1 FROM old_slugs WHERE type = ? AND slug = ?').get(type, slug)) return applied;
        const former = await applier.write(() => new Set(rememberSlug(mirror, type, slug, hook.id)));
        return { ...applied, refreshed: [...new Set([...applied.refreshed, ...former.refreshed])] };
      }
    }
  };

  const work = async (delivery: string, hook: ReturnType<typeof wire.webhook.parse>): Promise<WebhookAnswer> => {
    const began = performance.now();
    try {
      const { refreshed } = await act(hook);
      // Remembered when it is done: a delivery that failed may come again.
      mirror.prepare('INSERT OR IGNORE INTO deliveries VALUES (?, ?)').run(delivery, now());
      const ms = Math.round(performance.now() - began);
      log.info({ event: hook.event, type: hook.type, id: hook.id, ms }, 'content: webhook done');
      return { status: 200, body: { ok: true, refreshed, ms } };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error(
        { event: hook.event, type: hook.type, id: hook.id, error: message },
        'content: webhook not done, WordPress will send it again',
      );
      const asked = error instanceof SyncProblem ? error.retryAfterMs : null;
      const seconds = Math.max(5, Math.ceil((asked ?? 10_000) / 1000));
      return refuse(503, 'WordPress could not be read; send it again', { 'Retry-After': String(seconds) });
    }
  };

  return async (request, taken) => {
    if (!secret) return refuse(503, 'no secret is set on the site', { 'Retry-After': '300' });
    const timestamp = header(request, 'x-newsroom-timestamp');
    const delivery = header(request, 'x-newsroom-delivery');
    const signature = header(request, 'x-newsroom-signature');
    const bytes = typeof request.rawBody === 'string' ? Buffer.from(request.rawBody) : request.rawBody;
    const given = signature.startsWith('sha256=') ? signature.slice(7) : '';
    if (!/^\d{1,12}$/u.test(timestamp) || !matches(sign(secret, `${timestamp}.`, bytes), given))
      return refuse(401, 'bad signature');
    if (Math.abs(now() / 1000 - Number(timestamp)) > windowSeconds)
      return refuse(409, 'older than five minutes; check both clocks');
    if (!/^[\w-]{8,64}$/u.test(delivery)) return refuse(422, 'X-Newsroom-Delivery is no id');
    let parsed: ReturnType<typeof wire.webhook.safeParse>;
    try {
      parsed = wire.webhook.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    } catch {
      return refuse(422, 'body is not JSON');
    }
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return refuse(422, `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
    }
    const seen = mirror.prepare('SELECT at FROM deliveries WHERE id = ?').get(delivery);
    if (seen && now() - Number(seen.at) < rememberedMs) return refuse(409, 'this delivery was already processed');
    if (underWay.has(delivery)) {
      const first = await underWay.get(delivery);
      return first && first.status === 200
        ? refuse(409, 'this delivery was already processed')
        : refuse(503, 'send it again', { 'Retry-After': '5' });
    }
    taken?.();
    const working = work(delivery, parsed.data);
    underWay.set(delivery, working);
    try {
      return await working;
    } finally {
      underWay.delete(delivery);
    }
  };
}
