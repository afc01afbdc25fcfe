/** Mail as the rest of the house sees it: a message is written down in the caller's transaction and sent later, with retry. */

/** A message by its kind; the words and the look are the mail's own business. */
export type Message =
  | {
      readonly kind: 'link';
      readonly to: string;
      readonly url: string;
      readonly purpose: 'login' | 'register' | 'completeRegistration';
      readonly minutes: number;
    }
  | { readonly kind: 'code'; readonly to: string; readonly code: string; readonly minutes: number }
  | { readonly kind: 'welcome'; readonly to: string; readonly firstName: string | null }
  | NewsletterMail
  | SupportMail
  | BillingMail;

/** A story as a newsletter tells it. */
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
  /** Whole minutes that it takes to read. */
  readonly minutes: number;
}

/** What one day's newsletter says, the same for all who get it. */
export interface NewsletterIssue {
  /** Name of the letter, for instance `Morning Sun`. */
  readonly letter: string;
  /** One word, for the `List-Id`. */
  readonly slug: string;
  /** The day in words. */
  readonly day: string;
  /** The first one leads. */
  readonly stories: readonly NewsletterStory[];
}

interface NewsletterMail extends NewsletterIssue {
  readonly kind: 'newsletter';
  readonly to: string;
  /** Whole address that ends it by one POST (RFC 8058), and shows a page with a button to whoever opens it. */
  readonly unsubscribe: string;
  /** After so many minutes it is yesterday's. */
  readonly minutes: number;
}

/** What a reader wrote to the newspaper with a form. */
interface SupportMail {
  readonly kind: 'support';
  /** Address of the department, such as the support inbox. */
  readonly to: string;
  /** First word of the subject; `Support` unless given. */
  readonly topic?: string;
  /** What the message is about, such as the address of a story. */
  readonly about?: string;
  readonly name: string;
  /** Where an answer goes. */
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

/** Tax within an amount: on top of the price, or included in it. */
interface TaxPart {
  readonly amount: number;
  readonly included: boolean;
}

/** Mail about a subscription. Amounts are whole minor units, times epoch milliseconds. */
type BillingMail =
  | {
      readonly kind: 'receipt';
      readonly to: string;
      readonly plan: string;
      readonly amount: number;
      readonly tax?: TaxPart | null;
      readonly currency: string;
      readonly paidAt: number;
      /** `null`: nothing will be billed any more. */
      readonly nextBill: { readonly at: number; readonly amount: number; readonly tax?: TaxPart | null } | null;
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
      /** Tax within it; mails from before tax was told apart have none. */
      readonly tax?: TaxPart | null;
      readonly currency: string;
      /** When it is tried again; `null`: not by itself. */
      readonly nextAttempt: number | null;
      /** Until when the paper stays open. */
      readonly until: number;
    }
  | {
      readonly kind: 'cancelled';
      readonly to: string;
      readonly plan: string;
      readonly until: number;
      /** Whether that time is over, as after a renewal that could not be paid. */
      readonly over?: boolean;
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
  /** Writes a message down in the caller's transaction; it is sent soon after the commit. */
  enqueue(transaction: Transaction, message: Message): Promise<void>;
  /** Takes back, in the caller's transaction, what waits for an address, and what is kept of what was sent to it. */
  forget(transaction: Transaction, to: string): Promise<void>;
  /** Says that something was committed: look at once. */
  nudge(): void;
  /** Messages that wait, and since when the oldest does (epoch milliseconds). */
  waiting(): Promise<{ readonly count: number; readonly oldest: number | null }>;
  start(): void;
  /** Lets a message that is being sent end. */
  stop(): Promise<void>;
}

/** The newspaper, as its mail presents it. */
export interface Publisher {
  readonly name: string;
  readonly motto: string;
  /** BCP 47. */
  readonly language: string;
  /** In which dates are told. */
  readonly timeZone: string;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** Where readers write to. */
  readonly contact: string;
}
