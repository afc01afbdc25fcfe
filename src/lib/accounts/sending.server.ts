/** Sends links and codes: within the limits, for one purpose each, with the mail stored in the same transaction. */
import type { AccountsTransaction } from '../database.ts';
import type { ExceededLimit } from '../http/limiter.server.ts';
import { returnPath } from '../http/origin.ts';
import { choiceNames, choiceOf } from '../newsletters/model.ts';
import {
  countAgainst,
  type Dependencies,
  emailRefusal,
  fail,
  invalidEmail,
  limited,
  ok,
  recordAudit,
} from './dependencies.server.ts';
import { normalEmail, proofSeconds } from './model.ts';
import { addCode, addLink, hasProof, type LinkProof } from './proofs.server.ts';
import type { Accounts, Caller, CreateOptions, Delivery, Outcome, Purpose } from './service.ts';
import { openSession } from './sessions.server.ts';
import { createUser, userByEmail } from './users.server.ts';

const minutes = proofSeconds / 60;

/** Mails a link, in the caller's transaction. Opening its address doesn't use it up. */
export async function mailLink(deps: Dependencies, tx: AccountsTransaction, link: LinkProof): Promise<void> {
  const url = `${deps.siteUrl}/blaize/token-exchange?token=${await addLink(deps, tx, link)}`;
  const letters = choiceOf(link.redirect) ?? [];
  const newsletters = letters.length > 0 ? choiceNames(letters) : undefined;
  await deps.outbox.enqueue(tx, { kind: 'link', to: link.email, url, purpose: link.purpose, newsletters, minutes });
}

export function createSending(deps: Dependencies): Pick<Accounts, 'exists' | 'sendLink' | 'sendCode' | 'create'> {
  return {
    async exists(text, caller) {
      const email = normalEmail(text);
      if (email === null) return invalidEmail;
      const over = await countAgainst(deps, 'exists', { address: caller.address });
      if (over) return limited(over);
      return ok((await userByEmail(deps.database.db, email)) !== null);
    },
    sendLink: (delivery) => send(deps, 'link', delivery),
    sendCode: (delivery) => send(deps, 'code', delivery),
    create: (text, caller, options) => create(deps, text, caller, options),
  };
}

const dailyLimit = (kind: 'link' | 'code', purpose: Purpose) => {
  if (kind === 'code') return 'codeDaily';
  return purpose === 'register' ? 'registerLinkDaily' : 'linkDaily';
};

/** Counts a mail. @returns the limit that it would exceed */
async function countMail(
  deps: Dependencies,
  kind: 'link' | 'code',
  { purpose, caller }: Delivery,
  email: string,
): Promise<ExceededLimit | null> {
  const subject = { address: caller.address, account: email };
  const over = await countAgainst(deps, kind, subject);
  if (over) return over;
  const daily = dailyLimit(kind, purpose);
  const overDaily = await countAgainst(deps, daily, { account: email });
  // Strangers must not lock a person out for a day: beyond the limit, a link is mailed if no other is valid.
  if (!overDaily || (kind === 'link' && !(await hasProof(deps, deps.database.db, 'link', email)))) return null;
  // Nothing is mailed. If it counted, the next ten minutes could have neither a valid link nor room for a new one.
  await deps.limiter.release(kind, subject);
  return overDaily;
}

async function send(deps: Dependencies, kind: 'link' | 'code', delivery: Delivery): Promise<Outcome<null>> {
  const { database, outbox, siteUrl } = deps;
  const email = normalEmail(delivery.email);
  if (email === null) return invalidEmail;
  const { purpose, caller } = delivery;
  const user = await userByEmail(database.db, email);
  const sendsNothing = purpose === 'register' ? user !== null : user === null;
  // A request that mails nothing is a look-up: counted as a mail, it would use up the owner's links, or everyone's.
  if (sendsNothing) {
    const tooMany = await countAgainst(deps, 'exists', { address: caller.address });
    return tooMany ? limited(tooMany) : fail({ kind: user ? 'exists' : 'unknown-user' });
  }
  const over = await countMail(deps, kind, delivery, email);
  if (over) {
    // Requests of strangers must not lock the owner out: the links that they caused are in the owner's mailbox.
    if (kind === 'link' && over.scope === 'email' && (await hasProof(deps, database.db, 'link', email)))
      return ok(null);
    return limited(over);
  }
  if (purpose === 'register' && !delivery.isVerified) {
    const refused = deps.verification && (await emailRefusal(deps.verification, email));
    if (refused) return fail(refused);
  }
  await database.transaction(async (tx) => {
    if (kind === 'link') {
      await mailLink(deps, tx, { email, purpose, redirect: returnPath(delivery.redirect, siteUrl) });
    } else {
      const code = await addCode(deps, tx, email, purpose);
      await outbox.enqueue(tx, { kind, to: email, code, minutes });
    }
    await recordAudit(deps, tx, { event: `${kind} sent`, userId: user?.id, email, caller, detail: purpose });
  });
  outbox.nudge();
  return ok(null);
}

async function create(
  deps: Dependencies,
  text: string,
  caller: Caller,
  { redirect, enter = false }: CreateOptions = {},
): ReturnType<Accounts['create']> {
  const { database, outbox, siteUrl } = deps;
  const email = normalEmail(text);
  if (email === null) return invalidEmail;
  const subject = { address: caller.address, account: email };
  const over = await countAgainst(deps, 'create', subject);
  if (over) return limited(over);
  if (await userByEmail(database.db, email)) return fail({ kind: 'exists' });
  const refused = deps.verification && (await emailRefusal(deps.verification, email));
  if (refused) return fail(refused);
  // Many readers share a network address. The limit on mail must not keep one of them from paying: the link can be sent again later.
  const withoutMail =
    (await countAgainst(deps, 'confirmation', subject)) ??
    (await countAgainst(deps, 'registerLinkDaily', { account: email }));
  if (withoutMail && !enter) return limited(withoutMail);
  const made = await database.transaction(async (tx) => {
    const user = await createUser(deps, tx, email, false);
    if (!user) return null;
    if (!withoutMail) {
      await mailLink(deps, tx, { email, purpose: 'completeRegistration', redirect: returnPath(redirect, siteUrl) });
    }
    await recordAudit(deps, tx, { event: 'account made', userId: user.id, email, caller, detail: 'by address' });
    if (!enter) return {};
    return { signedIn: await openSession(deps, tx, user, caller, true, 'new account') };
  });
  if (!made) return fail({ kind: 'exists' });
  outbox.nudge();
  return ok(made);
}
