/** The provider of the ticker's prices: one question for one symbol, which costs one credit. */
import { QuotesUnavailable } from '../../lib/ticker/model.ts';
import { type QuotesAccess, twelveData } from '../../lib/ticker/twelve-data.server.ts';
import { type Check, Trouble } from './checks.ts';

/** @param symbols that the ticker shows */
export function marketCheck(market: QuotesAccess | null, symbols: readonly string[]): Check {
  const [symbol = ''] = symbols;
  return {
    service: 'market',
    missing: market ? null : 'set QUOTES_KEY',
    steps: [{ asks: `GET /quote?symbol=${symbol}`, run: () => ask(market, symbol) }],
  };
}

async function ask(market: QuotesAccess | null, symbol: string): Promise<string> {
  if (!market) throw new Error('no provider is configured');
  try {
    const price = (await twelveData(market, 15_000).quotes([symbol])).get(symbol)?.price;
    return `${symbol} at ${price}`;
  } catch (error) {
    if (!(error instanceof QuotesUnavailable)) throw error;
    const remedy = `check QUOTES_KEY, the credits of the account, and that its plan has ${symbol} (ticker in src/publication.ts)`;
    throw new Trouble(error.message, remedy, { cause: error });
  }
}
