/**
 * Stand-in for Twelve Data's quotes: `GET /quote?symbol=A,B` with `Authorization: apikey …` (or `&apikey=…`), in the vendor's
 * format: numbers as text, a single symbol without a map around it, errors as `{"code", "message", "status": "error"}`.
 *
 * Failures are set with `PUT /_/failure` with `{"mode": …}` and read with `GET /_/state`, which also counts the
 * requests. Modes are those of {@link failureModes}.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Call, json, listenWeb, text } from '../web.ts';
import { createPrices, type Random, type SymbolPrice } from './prices.ts';

export interface QuotesAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

export interface Quotes {
  readonly access: QuotesAccess;
  stop(): Promise<void>;
}

const failureModes = {
  none: 'Prices are returned',
  down: 'It answers 503',
  hang: 'It never answers',
  slow: 'It answers after two seconds',
  malformed: 'It answers with HTML',
  limited: 'The credits are used up (429)',
  partial: 'The first symbol is unknown',
} as const;

export type FailureMode = keyof typeof failureModes;

const key = 'quotes-sandbox-of-broadsheet';
const maxSymbols = 120;

const errorAnswer = (code: number, message: string): Answer => json({ code, message, status: 'error' }, code);

/** Exchange rates are written with five places, prices with two. */
function quoteOf(symbol: string, { price, close }: SymbolPrice, now: number): object {
  const places = symbol.includes('/') && price < 10 ? 5 : 2;
  const change = price - close;
  return {
    symbol,
    name: symbol,
    currency: 'USD',
    datetime: new Date(now).toISOString().slice(0, 10),
    timestamp: Math.floor(now / 1000),
    close: price.toFixed(places),
    previous_close: close.toFixed(places),
    change: change.toFixed(places),
    percent_change: ((change / close) * 100).toFixed(5),
    is_market_open: true,
  };
}

interface QuotesOptions {
  /** Source of the price changes (default: `Math.random`). */
  readonly random?: Random;
}

export async function startQuotes({ random }: QuotesOptions = {}): Promise<Quotes> {
  const priceOf = createPrices(random);
  let mode: FailureMode = 'none';
  let requests = 0;

  async function answer({ request, url, disconnected }: Call): Promise<Answer | null> {
    requests++;
    if (mode === 'down') return text('Service Unavailable\n', 503);
    if (mode === 'hang') return null;
    if (mode === 'slow') await delay(2000, undefined, { signal: disconnected }).catch(() => {});
    if (mode === 'malformed') return text('<html><body>Bad gateway</body></html>');
    if (mode === 'limited') return errorAnswer(429, 'You have run out of API credits for the current minute.');
    const given = request.headers.authorization ?? `apikey ${url.searchParams.get('apikey') ?? ''}`;
    if (given !== `apikey ${key}`) return errorAnswer(401, 'The apikey parameter is incorrect or not specified.');
    const symbols = (url.searchParams.get('symbol') ?? '').split(',').filter(Boolean);
    if (symbols.length === 0 || symbols.length > maxSymbols)
      return errorAnswer(400, 'The symbol parameter is invalid.');
    const now = Date.now();
    const parts = symbols.map((symbol, index) =>
      mode === 'partial' && index === 0
        ? { code: 404, message: `The symbol ${symbol} is not known.`, status: 'error' }
        : quoteOf(symbol, priceOf(symbol), now),
    );
    return json(parts.length === 1 ? parts[0] : Object.fromEntries(symbols.map((symbol, at) => [symbol, parts[at]])));
  }

  async function setMode({ body }: Call): Promise<Answer> {
    const requested = (JSON.parse((await body()) || '{}') as { mode?: unknown }).mode;
    if (typeof requested !== 'string' || !Object.hasOwn(failureModes, requested)) {
      return json({ error: `"mode" is one of ${Object.keys(failureModes).join(', ')}.` }, 400);
    }
    mode = requested as FailureMode;
    return json({ mode, requests });
  }

  const server = await listenWeb(
    [
      { method: 'GET', path: /^\/quote$/, handle: answer },
      { method: 'PUT', path: /^\/_\/failure$/, handle: setMode },
      { method: 'GET', path: /^\/_\/state$/, handle: () => json({ mode, requests }) },
    ],
    { port: 0, name: "the sandbox's provider of prices" },
  );
  return { access: { url: server.url, key }, stop: server.close };
}
