/** Mail as features see it: a message is stored in the caller's transaction and sent later, with retries. */
import type { TaxPart } from '../money.ts';

/** A message by its kind; texts and design are in `messages/`. */
export type Message =
  | {
      readonly kind: 'link';
      readonly to: string;
      readonly url: string;
      readonly purpose: 'login' | 'register' | 'completeRegistration';
      /** Names of the newsletters that the link also signs up for, as in a sentence. */
      readonly newsletters?: string | undefined;
      readonly minutes: number;
    }
  | { readonly kind: 'code'; readonly to: string; readonly code: string; readonly minutes: number }
  | { readonly kind: 'welcome'; readonly to: string; readonly firstName: string | null }
  | NewsletterMail
  | SupportMail
  | BillingMessage;

/** A story in a newsletter. */
export interface NewsletterStory {
  readonly title: string;
  /** May be empty. */
  readonly standfirst: string;
  /** On this site, beginning with a slash. */
  readonly path: string;
  /** Its section; may be empty. */
  readonly kicker: string;
  /** Who wrote it; may be empty. */
  readonly byline: string;
  /** Whole minutes that it takes to read; 0: not known. */
  readonly minutes: number;
}

/** A day's issue of a newsletter, the same for all readers. */
export interface NewsletterIssue {
  /** Name of the newsletter, such as `Morning Sun`. */
  readonly letter: string;
  /** One word, for the `List-Id`. */
  readonly slug: string;
  /** The day as text. */
  readonly day: string;
  /** The first one leads. */
  readonly stories: readonly NewsletterStory[];
  /** The alert that this mail is, with the time at which it began (UTC instant); it is sent before newsletters. */
  readonly alert?: { readonly id: string; readonly starts: string };
}

interface NewsletterMail extends NewsletterIssue {
  readonly kind: 'newsletter';
  readonly to: string;
  /** Full address that unsubscribes by one POST (RFC 8058); opened in a browser, it shows a page with a button. */
  readonly unsubscribe: string;
  /** Minutes after which it is no longer sent. */
  readonly minutes: number;
}

/** A reader's message from a form. */
interface SupportMail {
  readonly kind: 'support';
  /** Address of the department, such as the support inbox. */
  readonly to: string;
  /** First word of the subject; `Support` unless given. */
  readonly topic?: string;
  /** What the message is about, such as the address of a story. */
  readonly about?: string;
  readonly name: string;
  /** Address for the reply. */
  readonly email: string;
  /** Empty when the form doesn't ask for it. */
  readonly phone: string;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether it came from an account with this address. */
  readonly known: boolean;
  readonly minutes: number;
}

/** Mail about a subscription. Amounts are whole minor units, times epoch milliseconds. */
export type BillingMessage =
  | {
      readonly kind: 'receipt';
      readonly to: string;
      readonly plan: string;
      readonly amount: number;
      readonly tax?: TaxPart | null;
      readonly currency: string;
      readonly paidAt: number;
      /** `null`: there will be no further bill; `paused`: none while billing is paused. */
      readonly nextBill:
        | { readonly at: number; readonly amount: number; readonly tax?: TaxPart | null }
        | 'paused'
        | null;
    }
  | {
      readonly kind: 'renewal-notice';
      readonly to: string;
      readonly plan: string;
      readonly amount: number;
      readonly tax?: TaxPart | null;
      readonly currency: string;
      readonly at: number;
    }
  | {
      readonly kind: 'payment-failed';
      readonly to: string;
      readonly plan: string;
      readonly amount: number;
      /** Tax within it; older queued mail has none. */
      readonly tax?: TaxPart | null;
      readonly currency: string;
      /** When the payment is retried; `null`: it is not. */
      readonly nextAttempt: number | null;
      /** Until when the subscriber keeps access. */
      readonly until: number;
      /** Whether the access has ended; older queued mail doesn't say. */
      readonly over?: boolean;
      /** Whether the reader has another subscription, which may give access for longer; older queued mail doesn't say. */
      readonly others?: boolean;
    }
  | {
      readonly kind: 'cancelled';
      readonly to: string;
      readonly plan: string;
      /** `null`: everything that was paid was refunded. */
      readonly until: number | null;
      /** Whether that date has passed, as after a failed renewal. */
      readonly over?: boolean;
      /** As of a failed payment. */
      readonly others?: boolean;
    }
  | {
      readonly kind: 'welcome-tier';
      readonly to: string;
      /** `sun-reader`, `sun-member` or `sun-founder`. */
      readonly product: string;
      readonly plan: string;
      readonly print: boolean;
    };

export interface Outbox<Transaction> {
  /** Stores a message in the caller's transaction; it is sent soon after the commit. */
  enqueue(transaction: Transaction, message: Message): Promise<void>;
  /** Deletes, in the caller's transaction, all messages to an address and their results. */
  forget(transaction: Transaction, to: string): Promise<void>;
  /** Sends waiting messages at once; call it after the commit. */
  nudge(): void;
  /** Number of waiting messages, and the time of the oldest that isn't a newsletter or an alert (epoch milliseconds). */
  waiting(): Promise<{ readonly count: number; readonly oldest: number | null }>;
  start(): void;
  /** Stops after the messages that are being sent. */
  stop(): Promise<void>;
}

/** The newspaper, as its mail presents it. */
export interface Publisher {
  readonly name: string;
  readonly motto: string;
  /** BCP 47. */
  readonly language: string;
  /** Time zone of dates. */
  readonly timeZone: string;
  /** Without a trailing slash. */
  readonly siteUrl: string;
  /** Address for questions of readers. */
  readonly contact: string;
  /** Printed in newsletters. */
  readonly postalAddress: string;
}

/** The address of a sender, as in the headers of a message. */
export interface Sender {
  /** Shown with the address; may be empty. */
  readonly name: string;
  readonly address: string;
}

/** Control characters and Unicode line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u;

/** One bare address: no name, no list, no quotes, no comments, no white space. */
export function isAddress(text: string): boolean {
  return (
    text.length <= 254 &&
    !control.test(text) &&
    /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,253}$/u.test(text) &&
    !/^\.|\.@|\.\.|@\.|@-|\.$/u.test(text)
  );
}

/** Reads `The Sun <news@example.com>` or `news@example.com`; `null` when it is neither. */
export function readSender(text: string): Sender | null {
  const match = /^(?:([^<>]*?)\s*<([^<>]+)>|([^<>]+))$/u.exec(text.trim());
  const name = (match?.[1] ?? '').replace(/^"(.*)"$/u, '$1').trim();
  const address = (match?.[2] ?? match?.[3] ?? '').trim();
  return isAddress(address) && !control.test(name) ? { name, address } : null;
}

/** The part of an address after the `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** Text for a header: control characters become spaces. */
export const oneLine = (text: string): string => text.replace(new RegExp(`${control.source}+`, 'gu'), ' ').trim();
