/**
 * A service that says whether a mailbox exists, with a small interface of its own (the site's adapter is
 * src/lib/email-verification/external.server.ts; docs/operations.md has the contract):
 *
 *     GET /v1/verify?email=ada@example.com          Authorization: Bearer <key>
 *     200 {"email", "result": "deliverable" | "undeliverable" | "unknown", "suggestion": "ada@example.com" | null}
 *     400 {"error"} no address · 401 {"error"} wrong key · 503 {"error"}
 *
 * What it answers depends on the part before the @: `undeliverable…`, `unknown…`, `suggest…` (the same at example.com),
 * `slow…` (after ten seconds), `hang…` (never), `down…` (503), `garbled…` (no JSON); everybody else is deliverable.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, json, listenWeb, text } from '../web.ts';

export interface VerifierAccess {
  /** Where to ask, without a query. */
  readonly url: string;
  readonly key: string;
}

export interface Verifier {
  readonly access: VerifierAccess;
  stop(): Promise<void>;
}

const key = 'verifier-sandbox-of-broadsheet';

export async function startVerifier({ port = 0 }: { readonly port?: number } = {}): Promise<Verifier> {
  const server = await listenWeb(
    [
      {
        method: 'GET',
        path: /^\/v1\/verify$/,
        handle({ request, url, gone }) {
          if (request.headers.authorization !== `Bearer ${key}`) return json({ error: 'The key is wrong.' }, 401);
          const email = url.searchParams.get('email') ?? '';
          if (!/^[^\s@]+@[^\s@]+$/.test(email)) return json({ error: 'That is no address.' }, 400);
          return judge(email, gone);
        },
      },
    ],
    { port, name: "the sandbox's e-mail verifier" },
  );
  return { access: { url: `${server.url}/v1/verify`, key }, stop: server.close };
}

async function judge(email: string, gone: AbortSignal): Promise<Answer | null> {
  const name = email.split('@')[0]?.toLowerCase() ?? '';
  const result = (said: string, suggestion: string | null = null) => json({ email, result: said, suggestion });
  if (name.startsWith('undeliverable')) return result('undeliverable');
  if (name.startsWith('unknown')) return result('unknown');
  if (name.startsWith('suggest')) return result('undeliverable', `${name}@example.com`);
  if (name.startsWith('hang')) return null;
  if (name.startsWith('down')) return json({ error: 'Out of order.' }, 503);
  if (name.startsWith('garbled')) return text('<html>Bad gateway</html>');
  if (name.startsWith('slow')) await delay(10_000, undefined, { signal: gone }).catch(() => {});
  return result('deliverable');
}
