/**
 * Notifications through OneSignal's REST API (documentation.onesignal.com/reference/push-notification). Every request of an alert has the same
 * idempotency key, so that OneSignal sends it once, however often it is asked (…/reference/idempotent-notification-requests: keys are UUIDs
 * and are remembered for 30 days).
 */
import { postJson } from '../http/post.server.ts';
import type { Alert } from './model.ts';

export interface PushSettings {
  readonly appId: string;
  /** The app's key; never leaves the server. */
  readonly key: string;
  /** Without a trailing slash. */
  readonly url: string;
  /** The segment of OneSignal that gets breaking news. */
  readonly segment: string;
}

export type PushResult =
  /** OneSignal has accepted it, with this or an earlier request. */
  | { readonly kind: 'sent' }
  /** No notification was created. */
  | { readonly kind: 'refused'; readonly message: string }
  /** It isn't known whether OneSignal accepted it; the same request may be repeated. */
  | { readonly kind: 'unclear'; readonly message: string; readonly retryAfterMs: number | null };

export type SendPush = (alert: Alert) => Promise<PushResult>;

const timeoutMs = 15_000;
/** Longest time that OneSignal keeps a notification for a browser that is off, seconds. */
const longestTtl = 28 * 24 * 60 * 60;

export function createPush(
  settings: PushSettings,
  site: { readonly url: string; readonly name: string },
  now: () => number = Date.now,
): SendPush {
  return async (alert) => {
    const left = Math.ceil((Date.parse(alert.until) - now()) / 1000);
    const result = await postJson({
      url: `${settings.url}/notifications`,
      headers: { Authorization: `Key ${settings.key}` },
      body: {
        app_id: settings.appId,
        target_channel: 'push',
        included_segments: [settings.segment],
        isAnyWeb: true,
        headings: { en: `Breaking news · ${site.name}` },
        contents: { en: alert.text },
        web_url: new URL(alert.href ?? '/', site.url).href,
        ttl: Math.min(longestTtl, Math.max(1, left)),
        idempotency_key: alert.id,
      },
      timeoutMs,
    });
    if (!result.answered) return { kind: 'unclear', message: result.message, retryAfterMs: null };
    const { status, json, retryAfterMs } = result;
    const { id, errors } = Object(json) as { id?: unknown; errors?: unknown };
    const why = reasonIn(errors);
    if (status === 200 && typeof id === 'string') {
      return id === '' ? { kind: 'refused', message: why || 'no notification was made' } : { kind: 'sent' };
    }
    if (status === 401 || status === 403) {
      return { kind: 'refused', message: 'OneSignal refuses the key: compare ONESIGNAL_API_KEY with Keys & IDs' };
    }
    if (status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429) {
      return { kind: 'refused', message: why || `OneSignal answered ${status}` };
    }
    return { kind: 'unclear', message: why || `OneSignal answered ${status}`, retryAfterMs };
  };
}

/** OneSignal's reasons: a list of sentences, or an object with lists. */
function reasonIn(errors: unknown): string {
  const list = Array.isArray(errors) ? errors : errors === undefined ? [] : [JSON.stringify(errors)];
  return list
    .filter((each) => typeof each === 'string')
    .join(' ')
    .slice(0, 300);
}
