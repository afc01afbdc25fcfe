/** The support desk as routes and pages see it. */
import type { Caller, Session } from '../accounts/service.ts';
import type { SupportFields } from './form.ts';

export interface Asking {
  readonly caller: Caller;
  /** Who is signed in; `null` when nobody is. */
  readonly session: Session | null;
  /** What stood in the field that people do not see. */
  readonly trap: string;
  /** The stamp that came with the form; empty when there was none. */
  readonly stamp: string;
}

export interface Support {
  /** For a form that is drawn now. */
  stamp(): string;
  /**
   * Keeps a message and hands it to the mail, in one transaction: what is answered with success is not lost.
   *
   * @param fields without errors (`checkSupport`)
   * @returns `limited` with whole seconds to wait, where somebody writes too much
   */
  take(
    fields: SupportFields,
    asking: Asking,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly retryAfter: number }>;
  /** What this reader wrote, for the export of everything kept. */
  exportData(session: Session): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes what this reader wrote. */
  forget(session: Session): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}
