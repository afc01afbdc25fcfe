/**
 * Guards against a key of the wrong account. Another account, or test mode, knows none of this site's customers: readers would get new
 * customers there, and deletions would seem done. So the site stores the live account through which it sells. With a key of another
 * account it sends no request to Stripe and behaves as if Stripe were down: jobs wait, and readers keep what they paid for.
 */
import Stripe from 'stripe';
import type { Database } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import { addNote, findNote } from './notes.server.ts';
import { openStripe } from './stripe.server.ts';

/** Key of the stored live account. */
const accountKey = 'stripe account';
/** Milliseconds until a refused key is checked again: operators may delete the note. */
const againMs = 60_000;

interface Options {
  readonly access: { readonly secretKey: string; readonly apiUrl: string };
  readonly database: Pick<Database, 'db'>;
  readonly log: Logger;
  readonly now: () => number;
  /** In tests. */
  readonly throughFetch?: typeof globalThis.fetch;
}

/** Stripe through the configured key. */
export interface OwnStripe {
  /** Calls fail while the key belongs to the wrong account. */
  readonly stripe: Stripe;
  /** Why no request is sent to Stripe, as a sentence for the operator; `null`: no problem, or not known yet. */
  keyProblem(): string | null;
  /**
   * Checks that the key belongs to the right account, unless that is known already. @throws StripeError, DatabaseUnavailable
   */
  checkKey(): Promise<void>;
}

export function openOwnStripe(options: Options): OwnStripe {
  const { access, log, now, throughFetch } = options;
  let checked: { readonly at: number; readonly problem: string | null } | null = null;
  let checking: Promise<void> | null = null;

  async function check(): Promise<void> {
    const problem = await findProblem(options);
    if (problem !== null) log.error({}, problem);
    checked = { at: now(), problem };
  }

  async function checkKey(): Promise<void> {
    const isKnown = checked !== null && (checked.problem === null || Math.abs(now() - checked.at) < againMs);
    if (isKnown) return;
    checking ??= check().finally(() => {
      checking = null;
    });
    await checking;
  }

  const keyProblem = (): string | null => checked?.problem ?? null;

  async function refuseWrong(): Promise<void> {
    await checkKey();
    const problem = keyProblem();
    if (problem !== null) throw new Error(problem);
  }

  return { stripe: openStripe(access, throughFetch, refuseWrong), keyProblem, checkKey };
}

/** @returns the problem with the key, as a sentence for the operator; `null`: none */
async function findProblem({ access, database: { db }, log, now, throughFetch }: Options): Promise<string | null> {
  const account = async () => (await findNote(db, accountKey))?.value ?? null;
  let ours = await account();
  if (!/^[rs]k_live_/.test(access.secretKey))
    return ours === null ? null : `STRIPE_SECRET_KEY is a test-mode key. ${remedyFor(ours)}`;
  const id = await fetchAccount(openStripe(access, throughFetch));
  if (id === null) {
    log.warn({}, "STRIPE_SECRET_KEY may not read its account, so the site can't check whether it is the right key");
    return null;
  }
  // If two processes with keys of two accounts start at once, the first to store its account wins.
  if (ours === null && !(await addNote(db, accountKey, id, now()))) ours = await account();
  return ours === null || ours === id ? null : `STRIPE_SECRET_KEY belongs to the account ${id}. ${remedyFor(ours)}`;
}

const remedyFor = (account: string): string =>
  `This site sells through ${account}. No requests are sent to Stripe until its key is set again (docs/operations.md, "A key of another account")`;

/** `acct_…`; `null` where a restricted key may not read it. */
async function fetchAccount(stripe: Stripe): Promise<string | null> {
  try {
    // No retry here: the request that waits for this check is itself retried.
    return (await stripe.accounts.retrieveCurrent({}, { maxNetworkRetries: 0 })).id;
  } catch (error) {
    if (error instanceof Stripe.errors.StripePermissionError) return null;
    throw error;
  }
}
