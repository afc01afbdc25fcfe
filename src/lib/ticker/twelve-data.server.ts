/**
 * Twelve Data's REST API (https://twelvedata.com/docs): `GET /quote?symbol=SPX,EUR/USD` with `Authorization: apikey <key>` answers
 * `{"SPX": {"close": "6740.28", "change": …, "percent_change": …}, …}`, and for a single symbol only its object. Numbers are
 * strings. An error is `{"code", "message", "status": "error"}`, for the whole response or for one symbol, sometimes with HTTP
 * status 200.
 */
import { z } from 'zod';
import { retryAfter } from '../http/retry-after.ts';
import { type Quote, type QuoteProvider, QuotesUnavailable } from './model.ts';

export interface QuotesAccess {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
}

const number = z.union([z.number(), z.string().trim().min(1)]).transform((value, context) => {
  const read = Number(value);
  if (Number.isFinite(read)) return read;
  context.addIssue("isn't a number");
  return z.NEVER;
});
const quote = z.object({ close: number, change: number, percent_change: number });
const fault = z.object({ status: z.literal('error'), code: z.number().optional() });

/** Largest response in characters: a hundred times the size for seven symbols. */
const longestAnswer = 400_000;
/** The provider renews credits every minute. */
const creditsRenewMs = 60_000;

/** @param timeoutMs longest wait for an answer */
export function twelveData({ url, key }: QuotesAccess, timeoutMs = 4000): QuoteProvider {
  async function ask(symbols: readonly string[]): Promise<unknown> {
    try {
      const response = await fetch(`${url}/quote?symbol=${symbols.map(encodeURIComponent).join(',')}`, {
        headers: { accept: 'application/json', authorization: `apikey ${key}` },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) {
        await response.body?.cancel();
        const waitMs = retryAfter(response.headers.get('retry-after'), Date.now());
        throw new QuotesUnavailable(
          `it answers ${response.status}`,
          response.status === 429 ? (waitMs ?? creditsRenewMs) : waitMs,
        );
      }
      const text = await response.text();
      if (text.length > longestAnswer) throw new QuotesUnavailable('its answer is too long');
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof QuotesUnavailable) throw error;
      const { name, cause } = error as Error & { cause?: { code?: string } };
      if (name === 'SyntaxError') throw new QuotesUnavailable("its answer isn't JSON");
      throw new QuotesUnavailable(name === 'TimeoutError' ? 'it does not answer in time' : (cause?.code ?? name));
    }
  }

  return {
    async quotes(symbols) {
      const answer = await ask(symbols);
      const whole = fault.safeParse(answer);
      if (whole.success) {
        const { code } = whole.data;
        throw new QuotesUnavailable(`it answers ${code ?? 'with a fault'}`, code === 429 ? creditsRenewMs : null);
      }
      const found = new Map<string, Quote>();
      for (const symbol of symbols) {
        const part: unknown = symbols.length === 1 ? answer : Object(answer)[symbol];
        const { data } = quote.safeParse(part);
        if (data) found.set(symbol, { price: data.close, change: data.change, percent: data.percent_change });
      }
      if (found.size === 0) throw new QuotesUnavailable('its answer has an unexpected format');
      return found;
    },
  };
}
