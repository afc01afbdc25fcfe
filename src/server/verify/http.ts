/** Requests of the checks: bounded in time and size, redirects not followed, failures with a remedy. */
import { Trouble } from './checks.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `undefined` where the body is not JSON. */
  readonly json: unknown;
}

const timeoutMs = 20_000;
const longestAnswer = 2 * 1024 * 1024;

/**
 * Sends one request and reads the whole answer.
 *
 * @param setting name of the setting that the address comes from, for the remedy
 * @throws Trouble when nothing answers
 */
export async function request(url: string, setting: string, init: RequestInit = {}): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const text = await bounded(response);
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  } catch (error) {
    throw new Trouble(reason(error), remedyFor(error, new URL(url).host, setting), { cause: error });
  }
}

async function bounded(response: Response): Promise<string> {
  const parts: string[] = [];
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > longestAnswer) break;
    parts.push(decoder.decode(part, { stream: true }));
  }
  return parts.join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The cause of a failed request, with its code where there is one. */
export function reason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} seconds`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code} ` : '';
  return `${code}${cause.message}`.trim() || cause.name;
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

function remedyFor(error: unknown, host: string, setting: string): string {
  const why = reason(error);
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return `check the host name ${host} in ${setting}, and this machine's DNS`;
  if (certificateCodes.test(why)) {
    return `${host} shows a certificate that this machine doesn't trust; for a private CA start Node with NODE_EXTRA_CA_CERTS`;
  }
  return `check that ${host} (${setting}) can be reached from this machine, through its firewall and proxy`;
}

/** An object's fields, none where it isn't an object. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
