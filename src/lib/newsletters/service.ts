/** What the newsletters do, as routes, pages and the command see it. */
import type { Session } from '../accounts/service.ts';
import type { NewsletterIssue } from '../mail/model.ts';
import type { Choice } from './choices.ts';

/** How far an issue has got. */
export interface Addressed {
  /** Readers for whom it is handed to the outbox, all runs together. */
  readonly readers: number;
  /** Whether everybody has got it who chose it. */
  readonly finished: boolean;
}

export interface SendOptions {
  /** Stops between two batches; what is handed over stays, and the next run goes on from there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (readers: number, waiting: boolean) => void;
  /** Readers of one transaction; for tests. */
  readonly batch?: number;
}

export interface Newsletters {
  /** What a reader has chosen, in the order of `choices.ts`. */
  choices(userId: string): Promise<readonly Choice[]>;
  /** Makes these the choices, and no others. */
  choose(session: Session, choices: readonly Choice[]): Promise<void>;
  /** Adds to what was chosen before. */
  add(session: Session, choices: readonly Choice[]): Promise<void>;
  /** What an unsubscribe token would end; `null` when it is none of ours, or too old. Uses nothing up. */
  peek(token: string): Choice | null;
  /** Ends what the token names, or takes that back. Both may be said twice. @returns as {@link peek} */
  unsubscribe(token: string): Promise<Choice | null>;
  resubscribe(token: string): Promise<Choice | null>;
  /**
   * Hands an issue to the outbox for everybody who chose the letter and whose address is confirmed. A letter has one issue a day: the
   * first call writes it down, every later one goes on with that, and each reader gets it once however many processes call.
   *
   * @param compose asked only when the day has no issue yet; `null`: there is nothing to send
   */
  send(
    slug: string,
    compose: (day: string) => NewsletterIssue | null,
    options?: SendOptions,
  ): Promise<Addressed | null>;
  /** What is kept about a reader, for the export of everything. */
  exportData(userId: string): Promise<Readonly<Record<string, unknown>>>;
}
