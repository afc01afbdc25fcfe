/**
 * Keeps a key of the wrong account out. To another account, or to test mode, every customer of this site is unknown: readers would get new
 * customers there, and the deletion of an account would seem done. So the site remembers the live account that it sells through, and with
 * a key of another one it asks Stripe nothing, as if Stripe were down: jobs wait, and readers keep what they have paid.
 */
import Stripe from 'stripe';
import type { Database } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import { addNote, findNote } from './notes.server.ts';
import { openStripe } from './stripe.server.ts';

/** Key of the note with the live account. */
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

/** Stripe through the key that is set. */
export interface OwnStripe {
  /** Its calls fail while the key is of the wrong account. */
  readonly stripe: Stripe;
  /** Why nothing is asked of Stripe, a sentence for the operator; `null`: nothing is wrong, or it isn't known yet. */
  keyProblem(): string | null;
  /** Finds out whether the key is of the right account, unless that is known. @throws StripeError, DatabaseUnavailable */
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

  return { stripe: openStripe(access, undefined, throughFetch, refuseWrong), keyProblem, checkKey };
}

/** @returns what is wrong with the key, a sentence for the operator; `null`: nothing */
async function findProblem({ access, database: { db }, log, now, throughFetch }: Options): Promise<string | null> {
  const account = async () => (await findNote(db, accountKey))?.value ?? null;
  let ours = await account();
  if (!/^[rs]k_live_/.test(access.secretKey))
    return ours === null ? null : `STRIPE_SECRET_KEY is one of test mode. ${remedyFor(ours)}`;
  const id = await fetchAccount(openStripe(access, undefined, throughFetch));
  if (id === null) {
    log.warn({}, 'STRIPE_SECRET_KEY may not read its account, so it is not known whether it is the right one');
    return null;
  }
  // Of two processes that begin at once, with keys of two accounts, one is first.
  if (ours === null && !(await addNote(db, accountKey, id, now()))) ours = await account();
  return ours === null || ours === id ? null : `STRIPE_SECRET_KEY is one of the account ${id}. ${remedyFor(ours)}`;
}

const remedyFor = (account: string): string =>
  `This site sells through ${account}. Nothing is asked of Stripe until its key is back (docs/operations.md, "A key of another account")`;

/** `acct_…`; `null` where a restricted key may not read it. */
async function fetchAccount(stripe: Stripe): Promise<string | null> {
  try {
    // The request that waits for this is tried twice.
    return (await stripe.accounts.retrieveCurrent({}, { maxNetworkRetries: 0 })).id;
  } catch (error) {
    if (error instanceof Stripe.errors.StripePermissionError) return null;
    throw error;
  }
}
