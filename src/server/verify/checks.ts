/**
 * `npm run verify` sends each configured service a few real requests with the operator's own keys and prints one line for each: the
 * request, the result, the remedy. This file defines a check and runs the checks; each service has its own file next to it.
 */
import { parseJson } from '../../lib/json.ts';

/** One request to a service. */
export interface Step {
  /** The request as it is printed, such as `GET /wp-json/newsroom/v1/status`. */
  readonly asks: string;
  /**
   * Sends it.
   *
   * @returns the result, in a few words
   * @throws CheckFailure with the result and the remedy
   */
  run(): Promise<string>;
}

/** Requests to one service, in order. A failure skips the rest of its group, because later requests depend on earlier ones. */
export interface Check {
  /** The name that is printed and that `--only` accepts, in lower case. */
  readonly service: string;
  /** The settings that are missing; `null`: the service is configured. */
  readonly missing: string | null;
  readonly steps: readonly Step[];
  /** Removes what the steps created, even after a failure. */
  cleanUp?(): Promise<void>;
}

/**
 * A check of one service.
 *
 * @param settings `null`: the service isn't configured
 * @param missing the settings to set then
 * @param steps what each requests, as it is printed, and the function that requests it
 */
export const checkOf = <Settings>(
  service: string,
  settings: Settings | null,
  missing: string,
  steps: readonly (readonly [asks: string, run: (settings: Settings) => Promise<string>])[],
): Check => ({
  service,
  missing: settings === null ? missing : null,
  steps: steps.map(([asks, run]) => ({
    asks,
    async run() {
      if (settings === null) throw new Error(`${service} isn't configured`);
      return run(settings);
    },
  })),
});

/** A result that isn't what the product needs. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** The remedy, as an instruction. */
  readonly remedy: string;

  constructor(result: string, remedy: string, options?: ErrorOptions) {
    super(result, options);
    this.remedy = remedy;
  }
}

export interface Line {
  readonly service: string;
  readonly asks: string;
  readonly outcome: 'ok' | 'failed' | 'skipped';
  /** The result, or why the request was not sent. */
  readonly result: string;
  /** The remedy; `null` when there is nothing to do. */
  readonly remedy: string | null;
}

export interface RunListener {
  /** Called before each request. */
  onService?(service: string): void;
  /** Called with each line as soon as it is complete. */
  onLine?(line: Line): void;
}

/**
 * Runs the checks one after the other.
 *
 * @returns every line, in order
 */
export async function runChecks(checks: readonly Check[], listener: RunListener = {}): Promise<Line[]> {
  const lines: Line[] = [];
  const add = (line: Line): void => {
    lines.push(line);
    listener.onLine?.(line);
  };
  for (const check of checks) {
    const { service, missing, steps } = check;
    listener.onService?.(service);
    if (missing !== null) {
      for (const { asks } of steps) add({ service, asks, outcome: 'skipped', result: missing, remedy: null });
      continue;
    }
    let failed: string | null = null;
    for (const step of steps) {
      const { asks } = step;
      if (failed !== null) {
        const result = `needs "${failed}"`;
        add({ service, asks, outcome: 'skipped', result, remedy: null });
        continue;
      }
      try {
        add({ service, asks, outcome: 'ok', result: await step.run(), remedy: null });
      } catch (error) {
        failed = asks;
        add({ service, asks, outcome: 'failed', result: messageOf(error), remedy: remedyOf(error) });
      }
    }
    try {
      await check.cleanUp?.();
    } catch (error) {
      const remedy = 'remove by hand what this run created; its name begins with "broadsheet verify"';
      add({ service, asks: 'remove what this run created', outcome: 'failed', result: messageOf(error), remedy });
    }
  }
  return lines;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const remedyOf = (error: unknown): string =>
  error instanceof CheckFailure
    ? error.remedy
    : 'the check does not recognize this answer; see docs/operations.md for this service, and report it if it persists';

/** A line as text: outcome, service, request, result, and the remedy on a line of its own. */
export function formatLine({ service, asks, outcome, result, remedy }: Line): string {
  const head = `${outcome.padEnd(7)} ${service.padEnd(10)} ${asks} → ${result}`;
  return remedy === null ? head : `${head}\n${' '.repeat(19)}Do: ${remedy}`;
}

/** The last line of a run. */
export function summaryLine(lines: readonly Line[]): string {
  const count = (outcome: Line['outcome']): number => lines.filter((line) => line.outcome === outcome).length;
  return `${count('ok')} ok, ${count('failed')} failed, ${count('skipped')} skipped`;
}

// Requests of the checks.

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `undefined` when the body is not JSON. */
  readonly json: unknown;
}

const timeoutMs = 20_000;
const longestAnswer = 2 * 1024 * 1024;

/**
 * Sends one request and reads the whole response.
 *
 * @param setting name of the setting with the address, for the remedy
 * @throws CheckFailure when there is no response
 */
export async function request(url: string, setting: string, init: RequestInit = {}): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const text = await readStart(response);
    return { status: response.status, headers: response.headers, text, json: parseJson(text) };
  } catch (error) {
    throw new CheckFailure(reason(error), remedyFor(error, new URL(url).host, setting), { cause: error });
  }
}

/** The body as text, up to a limit; the rest isn't read. */
async function readStart(response: Response): Promise<string> {
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

/** The cause of a failed request, with its code if there is one. */
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
    return `${host} presents a certificate that this machine doesn't trust; for a private CA start Node with NODE_EXTRA_CA_CERTS`;
  }
  return `check that ${host} (${setting}) can be reached from this machine, through its firewall and proxy`;
}

/** An object's fields; no fields for anything else. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
