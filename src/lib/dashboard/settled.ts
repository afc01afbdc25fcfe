/** What a panel of a page needs, as a value: one that cannot be read must not take the page with it. */
import type { Logger } from '../logging.ts';

export type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

export interface SettledOptions {
  /** Names it in the log, for instance "The invoices". */
  readonly what: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds after which the page is drawn without it. */
  readonly patience?: number;
}

/** Waits for what a panel shows, but not for ever; a failure is logged and is a value. */
export async function settled<T>(
  work: () => Promise<T>,
  { what, log, patience = 4000 }: SettledOptions,
): Promise<Settled<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${patience} ms`)), patience);
  });
  try {
    return { ok: true, value: await Promise.race([work(), late]) };
  } catch (error) {
    log.warn({ err: error }, `${what} could not be read for a page`);
    return { ok: false };
  } finally {
    clearTimeout(timer);
  }
}
