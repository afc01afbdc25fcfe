/**
 * OneSignal's REST API as far as the site uses it (documentation.onesignal.com/reference/push-notification, …/view-segments,
 * …/idempotent-notification-requests):
 *
 *     POST /notifications                 Authorization: Key <App API key>
 *     200 {"id": "<uuid>", "external_id": null}, with `Idempotent-Replayed: true` for a key that was used before
 *     200 {"id": "", "errors": ["All included players are not subscribed"]} no browser is in the segment
 *     400 {"errors": [...]} · 403 {"errors": [...]} wrong key
 *     GET /apps/<app id>/segments         200 {"total_count", "offset", "limit", "segments": [{"id", "name", ...}]}
 *
 * Stricter than OneSignal in one point: it refuses fields that the reference doesn't have, which OneSignal ignores.
 *
 *     GET /sent                           what was sent, for tests
 *     PUT /mode                           ok | lost (it sends, without a response) | down (503) | limited (429) | empty (no browser in the segment)
 */
import { randomUUID } from 'node:crypto';
import { type Answer, json, listenWeb } from '../web.ts';

export interface PushAccess {
  /** Base of the API, without a slash at its end. */
  readonly url: string;
  readonly appId: string;
  readonly key: string;
}

export interface Push {
  readonly access: PushAccess;
  stop(): Promise<void>;
}

const modes = ['ok', 'lost', 'down', 'limited', 'empty'] as const;

const appId = '5a9db0c5-0000-4000-8000-000000000000';
const key = 'os_v2_app_sandbox_of_broadsheet_0000000000';
const segments = ['Total Subscriptions', 'Engaged Subscriptions', 'Inactive Subscriptions'];
/** The fields that the reference allows for a web notification to a segment. */
const allowedFields: ReadonlySet<string> = new Set([
  ...['app_id', 'included_segments', 'excluded_segments', 'target_channel', 'contents', 'headings', 'subtitle', 'name'],
  ...[
    'web_url',
    'url',
    'data',
    'ttl',
    'priority',
    'idempotency_key',
    'isAnyWeb',
    'isChromeWeb',
    'isFirefox',
    'isSafari',
  ],
  ...['chrome_web_icon', 'chrome_web_image', 'chrome_web_badge', 'web_buttons', 'web_push_topic', 'send_after'],
]);
/** Only versions 3 and 4. */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[34][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** The API's own text. */
const accessDenied =
  "Access denied.  Please include an 'Authorization: ...' header with a valid API key (https://documentation.onesignal.com/docs/en/keys-and-ids#api-keys).";

export async function startPush(): Promise<Push> {
  const sent = new Map<string, { readonly id: string; readonly body: object }>();
  let mode: (typeof modes)[number] = 'ok';
  const refuseWithoutKey = (authorization: string | undefined): Answer | null =>
    authorization === `Key ${key}` ? null : json({ errors: [accessDenied] }, 403);

  const server = await listenWeb(
    [
      {
        method: 'POST',
        path: /^\/notifications$/,
        async handle({ request, body }) {
          if (mode === 'down') return json({ errors: ['Service Unavailable'] }, 503);
          if (mode === 'limited') return json({ errors: ['API rate limit exceeded'] }, 429, { 'retry-after': '1' });
          const refused = refuseWithoutKey(request.headers.authorization);
          if (refused) return refused;
          const given = parse(await body());
          const problem = given === null ? 'The body is not a JSON object.' : problemOf(given);
          if (given === null || problem !== null) return json({ errors: [problem] }, 400);
          if (mode === 'empty') return json({ id: '', errors: ['All included players are not subscribed'] });
          const idempotencyKey = String(given.idempotency_key ?? randomUUID());
          const earlier = sent.get(idempotencyKey);
          if (earlier) return json({ id: earlier.id, external_id: null }, 200, { 'idempotent-replayed': 'true' });
          const id = randomUUID();
          sent.set(idempotencyKey, { id, body: given });
          if (mode === 'lost') {
            request.socket.destroy();
            return null;
          }
          return json({ id, external_id: null });
        },
      },
      {
        method: 'GET',
        path: /^\/apps\/([^/]+)\/segments$/,
        handle({ request, groups }) {
          const refused = refuseWithoutKey(request.headers.authorization);
          if (refused) return refused;
          if (groups[0] !== appId) return json({ errors: ['app_id not found'] }, 404);
          const list = segments.map((name) => ({ id: randomUUID(), name, is_active: true, app_id: appId }));
          return json({ total_count: list.length, offset: 0, limit: 300, segments: list });
        },
      },
      { method: 'GET', path: /^\/sent$/, handle: () => json([...sent.values()].map(({ body }) => body)) },
      {
        method: 'PUT',
        path: /^\/mode$/,
        async handle({ body }) {
          const requested = await body();
          const next = modes.find((each) => each === requested);
          if (next === undefined) return json({ error: 'There is no such mode.' }, 400);
          mode = next;
          return json({ mode });
        },
      },
    ],
    { port: 0, name: "the sandbox's OneSignal" },
  );
  return { access: { url: server.url, appId, key }, stop: server.close };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Why OneSignal would refuse a message; `null`: it would accept it. */
function problemOf(given: Record<string, unknown>): string | null {
  const unknown = Object.keys(given).filter((name) => !allowedFields.has(name));
  if (unknown.length > 0) return `Unknown field: ${unknown}`;
  if (given.app_id !== appId) return 'app_id not found. You may be missing a Content-Type: application/json header.';
  const { included_segments: includedSegments, contents, headings, ttl, web_url: address } = given;
  if (!Array.isArray(includedSegments) || includedSegments.length === 0)
    return 'You must include which players, segments, or tags you wish to send this notification to.';
  if (!includedSegments.every((name) => segments.includes(name)))
    return `Could not find the segment ${includedSegments}`;
  if (given.target_channel !== undefined && given.target_channel !== 'push') return 'target_channel is invalid';
  for (const texts of [contents, ...(headings === undefined ? [] : [headings])]) {
    if (typeof texts !== 'object' || texts === null || !isText((texts as Record<string, unknown>).en))
      return 'Notification content must not be null for any languages.';
  }
  if (ttl !== undefined && !(Number.isInteger(ttl) && Number(ttl) >= 0 && Number(ttl) <= 2_419_200))
    return 'ttl must be an integer between 0 and 2419200';
  if (address !== undefined && !/^https?:\/\//.test(String(address))) return 'web_url must be a valid URL';
  if (given.idempotency_key !== undefined && !uuid.test(String(given.idempotency_key)))
    return 'idempotency_key must be a valid v3 or v4 UUID';
  return null;
}
