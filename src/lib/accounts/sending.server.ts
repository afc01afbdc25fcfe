/** Sends links and codes: within the limits, for one purpose each, with the mail written down in the same transaction. */
import { randomUUID } from 'node:crypto';
import { returnPath } from '../http/return-path.ts';
import { badEmail, badEmailMessage, limited, no, ok, type Parts, within } from './dependencies.server.ts';
import { normalEmail, proofSeconds } from './model.ts';
import type { Accounts, Delivery, Outcome } from './service.ts';

const minutes = proofSeconds / 60;

/** Address that a link in a mail leads to; opening it uses nothing up. */
export const linkUrl = (siteUrl: string, token: string): string => `${siteUrl}/blaize/token-exchange?token=${token}`;

export function createSending(parts: Parts): Pick<Accounts, 'exists' | 'sendLink' | 'sendCode' | 'create'> {
  const { database, people, proofs, sessions, audit, outbox, siteUrl } = parts;

  /** What the address check says about one that is not known yet. */
  async function refused(email: string): Promise<Outcome<never> | null> {
    const answer = await parts.verification?.verify(email);
    if (!answer || answer.verified) return null;
    const { message, suggestedEmail: suggestion } = answer;
    return no({ kind: 'invalid-email', message: message || badEmailMessage, suggestion });
  }

  async function send(kind: 'link' | 'code', delivery: Delivery): Promise<Outcome<null>> {
    const email = normalEmail(delivery.email);
    if (email === null) return badEmail;
    const { purpose, caller } = delivery;
    const user = await people.byEmail(database.db, email);
    const idle = purpose === 'register' ? user !== null : user === null;
    // What sends nothing is not counted for the e-mail: it would use up the owner's links and leave none in the mailbox.
    const over = await within(parts, kind, { address: caller.address, ...(!idle && { email }) });
    if (over) {
      // Somebody else's impatience must not lock the owner out: the links that it caused are in the owner's mailbox.
      if (kind === 'link' && over.scope === 'email' && (await proofs.hasLink(database.db, email))) return ok(null);
      return limited(over);
    }
    if (idle) return no({ kind: user ? 'exists' : 'unknown-user' });
    if (purpose === 'register') {
      const refusal = await refused(email);
      if (refusal) return refusal;
    }
    await database.transaction(async (tx) => {
      if (kind === 'link') {
        const redirect = returnPath(delivery.redirect, siteUrl);
        const token = await proofs.newLink(tx, { email, purpose, redirect });
        await outbox.enqueue(tx, { kind, to: email, url: linkUrl(siteUrl, token), purpose, minutes });
      } else {
        const code = await proofs.newCode(tx, email, purpose);
        await outbox.enqueue(tx, { kind, to: email, code, minutes });
      }
      await audit(tx, { event: `${kind} sent`, userId: user?.id, email, caller, detail: purpose });
    });
    outbox.nudge();
    return ok(null);
  }

  return {
    async exists(text, caller) {
      const email = normalEmail(text);
      if (email === null) return badEmail;
      const over = await within(parts, 'exists', { address: caller.address });
      if (over) return limited(over);
      return ok((await people.byEmail(database.db, email)) !== null);
    },
    sendLink: (delivery) => send('link', delivery),
    sendCode: (delivery) => send('code', delivery),
    async create(text, caller, redirect, how) {
      const email = normalEmail(text);
      if (email === null) return badEmail;
      const who = { address: caller.address, email };
      const over = await within(parts, 'create', who);
      if (over) return limited(over);
      if (await people.byEmail(database.db, email)) return no({ kind: 'exists' });
      const refusal = await refused(email);
      if (refusal) return refusal;
      // Many readers share an address. What bounds the mail must not keep one of them from paying: the link can be sent again later.
      const withoutMail = await within(parts, 'confirmation', who);
      if (withoutMail && how !== 'enter') return limited(withoutMail);
      const made = await database.transaction(async (tx) => {
        const user = await people.create(tx, { email, verified: false });
        if (!user) return null;
        if (!withoutMail) {
          const purpose = 'completeRegistration';
          const token = await proofs.newLink(tx, { email, purpose, redirect: returnPath(redirect, siteUrl) });
          await outbox.enqueue(tx, { kind: 'link', to: email, url: linkUrl(siteUrl, token), purpose, minutes });
        }
        await audit(tx, { event: 'account made', userId: user.id, email, caller, detail: 'by address' });
        if (how !== 'enter') return {};
        const opened = await sessions.open(tx, user, caller);
        await audit(tx, { event: 'sign-in', userId: user.id, caller, detail: 'new account' });
        return { signedIn: { ...opened, created: true } };
      });
      if (!made) return no({ kind: 'exists' });
      outbox.nudge();
      return ok({ attempt: randomUUID(), ...made });
    },
  };
}
