/**
 * A service that says whether a mailbox exists, with a small interface of its own (the site's adapter is
 * src/lib/email-verification/external.server.ts; docs/operations.md has the contract):
 *
 *     GET /v1/verify?email=ada@example.com          Authorization: Bearer <key>
 *     200 {"email", "result": "deliverable" | "undeliverable" | "unknown", "suggestion": "ada@example.com" | null}
 *     400 {"error"} no address · 401 {"error"} wrong key · 503 {"error"}
 *
 * The same check in Kickbox's format (docs.kickbox.com, "Single verification API"):
 *
 *     GET /v2/verify?email=ada@example.com&apikey=<key>[&timeout=milliseconds]
 *     200 {"result": "deliverable" | "undeliverable" | "risky" | "unknown", "reason", "did_you_mean", …, "success": true, "message": null}
 *     400, 403 {"success": false, "message"}
 *
 * What it answers depends on the part before the @: `undeliverable…`, `unknown…`, `suggest…` (the same at example.com), `risky…` (Kickbox
 * only), `slow…` (after ten seconds), `hang…` (never), `down…` (503), `garbled…` (HTML instead of JSON); everything else is deliverable.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, json, listenWeb, text } from '../web.ts';

export interface VerifierAccess {
  /** Address of the service in our own format, without a query. */
  readonly url: string;
  /** Address of the service in Kickbox's format. */
  readonly kickboxUrl: string;
  readonly key: string;
}

export interface Verifier {
  readonly access: VerifierAccess;
  stop(): Promise<void>;
}

const key = 'verifier-sandbox-of-broadsheet';

export async function startVerifier(): Promise<Verifier> {
  const server = await listenWeb(
    [
      {
        method: 'GET',
        path: /^\/v1\/verify$/,
        handle({ request, url, disconnected }) {
          if (request.headers.authorization !== `Bearer ${key}`) return json({ error: 'The key is wrong.' }, 401);
          const email = url.searchParams.get('email') ?? '';
          if (!/^[^\s@]+@[^\s@]+$/.test(email)) return json({ error: 'That isn’t an email address.' }, 400);
          return verify(email, disconnected);
        },
      },
      {
        method: 'GET',
        path: /^\/v2\/verify$/,
        handle: ({ url, disconnected }) => kickbox(url.searchParams, disconnected),
      },
    ],
    { port: 0, name: "the sandbox's e-mail verifier" },
  );
  const access = { url: `${server.url}/v1/verify`, kickboxUrl: `${server.url}/v2/verify`, key };
  return { access, stop: server.close };
}

/** Kickbox takes no key in a header, and no other parameters. */
async function kickbox(query: URLSearchParams, disconnected: AbortSignal): Promise<Answer | null> {
  const refuse = (status: number, message: string) => json({ success: false, message }, status);
  const unknown = [...query.keys()].filter((name) => !['email', 'apikey', 'timeout'].includes(name));
  if (unknown.length > 0) return refuse(400, `Unknown parameter: ${unknown}`);
  if (query.get('apikey') !== key) return refuse(403, 'Invalid API key');
  const email = query.get('email') ?? '';
  if (email === '') return refuse(400, 'Email is required');
  const timeout = query.get('timeout') ?? '6000';
  if (!/^\d+$/.test(timeout) || Number(timeout) > 30_000) return refuse(400, 'Invalid timeout');
  const [user = null, domain = null] = email.toLowerCase().split('@');
  const answer = await verify(email, disconnected);
  if (answer === null || answer.status !== 200) return answer;
  const { result, suggestion } = /^\{/.test(String(answer.body))
    ? (JSON.parse(String(answer.body)) as { result: string; suggestion: string | null })
    : { result: '', suggestion: null };
  if (result === '') return answer;
  const risky = user?.startsWith('risky') === true;
  const reasons: Readonly<Record<string, string>> = { undeliverable: 'rejected_email', unknown: 'timeout' };
  return json({
    result: risky ? 'risky' : result,
    reason: risky ? 'low_deliverability' : (reasons[result] ?? 'accepted_email'),
    role: false,
    free: false,
    disposable: false,
    accept_all: risky,
    did_you_mean: suggestion,
    sendex: result === 'deliverable' && !risky ? 0.95 : 0.23,
    email,
    user,
    domain,
    success: true,
    message: null,
  });
}

async function verify(email: string, disconnected: AbortSignal): Promise<Answer | null> {
  const name = email.split('@')[0]?.toLowerCase() ?? '';
  const result = (word: string, suggestion: string | null = null) => json({ email, result: word, suggestion });
  if (name.startsWith('undeliverable')) return result('undeliverable');
  if (name.startsWith('unknown')) return result('unknown');
  if (name.startsWith('suggest')) return result('undeliverable', `${name}@example.com`);
  if (name.startsWith('hang')) return null;
  if (name.startsWith('down')) return json({ error: 'Service unavailable.' }, 503);
  if (name.startsWith('garbled')) return text('<html>Bad gateway</html>');
  if (name.startsWith('slow')) await delay(10_000, undefined, { signal: disconnected }).catch(() => {});
  return result('deliverable');
}
