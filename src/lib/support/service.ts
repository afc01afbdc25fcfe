/** The support inbox as routes and pages see it. */
import type { Caller, Session } from '../accounts/service.ts';
import type { Owner } from '../personal-data.ts';
import type { SupportFields } from './form.ts';
import type { Held } from './spam.ts';

export interface Asking {
  readonly caller: Caller;
  /** Who is signed in; `null` when nobody is. */
  readonly session: Session | null;
  /** What stood in the field that people do not see. */
  readonly trap: string;
  /** The stamp that came with the form; empty when there was none. */
  readonly stamp: string;
}

/** A message that was kept and not mailed. */
export interface HeldMessage extends SupportFields {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly created: number;
  readonly held: Held;
}

export interface SupportStats {
  /** Messages that were not mailed; a minute old, `null` before they were counted. */
  readonly held: number | null;
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
  /** What was not mailed, newest first. */
  heldMessages(): Promise<readonly HeldMessage[]>;
  /** Hands a message that was held to the mail after all. @returns `false` where none of this number is held */
  release(id: string): Promise<boolean>;
  stats(): SupportStats;
  /** What this reader wrote, for the export of everything kept. */
  exportData(user: Owner): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes what this reader wrote. */
  forget(user: Owner): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}
