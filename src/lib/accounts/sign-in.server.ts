/**
 * Turns proofs into sessions. Whoever proves an address for the first time gets the account without anything that somebody
 * put there before who had not, by the list of personal data (unless this very browser is signed in to it).
 */
import type { AccountsTransaction } from '../database.ts';
import { badEmail, limited, no, ok, type Parts, within } from './dependencies.server.ts';
import { normalEmail, proofSeconds } from './model.ts';
import { profileProblem } from './profile.ts';
import type { SocialProof } from './proofs.server.ts';
import { linkUrl } from './sending.server.ts';
import type { Accounts, Caller, Credentials, Outcome, Profile, Purpose, SignedIn } from './service.ts';
import type { User } from './users.server.ts';

export interface SigningIn extends Pick<Accounts, 'checkCode' | 'login' | 'register' | 'peekLink' | 'useLink'> {
  /** Signs in whom a provider vouches for; `null` when there is no account that it may open. */
  bySocial(tx: AccountsTransaction, proof: SocialProof, caller: Caller): Promise<SignedIn | null>;
}

const wrong = no({ kind: 'invalid-code' });
const stale = no({ kind: 'invalid', message: 'This sign-in has expired. Please try again.' });
const everyPurpose: readonly Purpose[] = ['login', 'register', 'completeRegistration'];
const firstName = (profile: Profile): string | null =>
  typeof profile.first_name === 'string' && profile.first_name !== '' ? profile.first_name : null;

export function createSigningIn(parts: Parts): SigningIn {
  const { database, people, proofs, sessions, profiles, limiter, audit, outbox, siteUrl } = parts;

  /** Opens a session. @param how for the audit trail */
  async function enter(
    tx: AccountsTransaction,
    user: User,
    caller: Caller,
    created: boolean,
    how: string,
  ): Promise<SignedIn> {
    const opened = await sessions.open(tx, user, caller);
    await audit(tx, { event: 'sign-in', userId: user.id, caller, detail: how });
    return { ...opened, created };
  }

  /** The owner of the address is here. */
  async function proven(tx: AccountsTransaction, id: string, caller: Caller): Promise<User | null> {
    const user = await people.hold(tx, id);
    if (!user || user.emailVerified) return user;
    if (!(await sessions.belongs(tx, caller.cookies, id))) {
      await people.disown(tx, id);
      await parts.others.disown(tx, id);
    }
    await people.confirm(tx, id);
    await audit(tx, { event: 'address confirmed', userId: id, caller });
    await welcome(tx, user.email, await profiles.read(tx, id));
    return { ...user, emailVerified: true };
  }

  async function owner(tx: AccountsTransaction, email: string, caller: Caller): Promise<User | null> {
    const found = await people.byEmail(tx, email);
    return found && proven(tx, found.id, caller);
  }

  const welcome = (tx: AccountsTransaction, to: string, profile: Profile): Promise<void> =>
    outbox.enqueue(tx, { kind: 'welcome', to, firstName: firstName(profile) });

  /** A new account of somebody who proved the address. @returns `null` when there is one already */
  async function join(
    tx: AccountsTransaction,
    email: string,
    profile: Profile,
    caller: Caller,
    how: string,
  ): Promise<SignedIn | null> {
    const user = await people.create(tx, { email, verified: true });
    if (!user) return null;
    await profiles.add(tx, user.id, profile);
    await audit(tx, { event: 'account made', userId: user.id, email, caller, detail: how });
    await welcome(tx, email, profile);
    return enter(tx, user, caller, true, how);
  }

  async function bySocial(tx: AccountsTransaction, proof: SocialProof, caller: Caller): Promise<SignedIn | null> {
    const { provider, subject, email, verified } = proof;
    const known = await people.byIdentity(tx, provider, subject);
    if (known) {
      const user =
        verified && known.email === email ? await proven(tx, known.id, caller) : await people.hold(tx, known.id);
      // Asked again now that the row is held: the owner may just have thrown out whoever connected this.
      const mine = user && (verified || (await people.byIdentity(tx, provider, subject))?.id === user.id);
      if (user && mine) {
        await people.addIdentity(tx, user.id, provider, subject);
        return enter(tx, user, caller, false, provider);
      }
    }
    // An address that the provider has not checked opens nothing.
    const user = verified ? await owner(tx, email, caller) : null;
    if (!user) return null;
    await people.addIdentity(tx, user.id, provider, subject);
    return enter(tx, user, caller, false, provider);
  }

  async function joinBySocial(
    tx: AccountsTransaction,
    proof: SocialProof,
    attributes: Profile,
    caller: Caller,
  ): Promise<SignedIn | null> {
    const { provider, subject, email, verified } = proof;
    const entered = await bySocial(tx, proof, caller);
    if (entered) return entered;
    const user = await people.create(tx, { email, verified });
    if (!user) return null;
    await people.addIdentity(tx, user.id, provider, subject);
    const given = {
      ...(proof.firstName && { first_name: proof.firstName }),
      ...(proof.lastName && { last_name: proof.lastName }),
    };
    await profiles.add(tx, user.id, { ...(profileProblem(given) ? {} : given), ...attributes });
    await audit(tx, { event: 'account made', userId: user.id, email, caller, detail: provider });
    if (verified) await welcome(tx, email, { ...given, ...attributes });
    else {
      const purpose = 'completeRegistration';
      const token = await proofs.newLink(tx, { email, purpose, redirect: '/' });
      await outbox.enqueue(tx, {
        kind: 'link',
        to: email,
        url: linkUrl(siteUrl, token),
        purpose,
        minutes: proofSeconds / 60,
      });
    }
    return enter(tx, user, caller, true, provider);
  }

  async function withKey(key: string, join: boolean, given: Given): Promise<Outcome<SignedIn>> {
    const over = await within(parts, 'register', { address: given.caller.address });
    if (over) return limited(over);
    return database.transaction(async (tx) => {
      const proof = await proofs.spendSocial(tx, key);
      if (!proof) return stale;
      const entered = join
        ? await joinBySocial(tx, proof, given.attributes, given.caller)
        : await bySocial(tx, proof, given.caller);
      if (entered) return ok(entered);
      return no({ kind: join ? 'exists' : 'unknown-user' });
    });
  }

  /** Reserves a guess, makes it, and gives it back when it was none. */
  async function guessing<T>(
    email: string,
    caller: Caller,
    guess: (tx: AccountsTransaction) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const who = { address: caller.address, email };
    const over = await within(parts, 'guess', who);
    if (over) return limited(over);
    const outcome = await database.transaction(async (tx) => {
      const made = await guess(tx);
      if (!made.ok && made.failure.kind === 'invalid-code')
        await audit(tx, { event: 'sign-in failed', email, caller, detail: 'code' });
      return made;
    });
    if (outcome.ok || outcome.failure.kind !== 'invalid-code') await limiter.giveBack('guess', who);
    return outcome;
  }

  interface Given {
    readonly attributes: Profile;
    readonly caller: Caller;
  }

  async function loginByCode(email: string, code: string, { attributes, caller }: Given): Promise<Outcome<SignedIn>> {
    return guessing(email, caller, async (tx) => {
      if (!(await proofs.tryCode(tx, email, ['login', 'completeRegistration'], code, true))) return wrong;
      const user = await owner(tx, email, caller);
      if (!user) return no({ kind: 'unknown-user' });
      await profiles.add(tx, user.id, attributes);
      return ok(await enter(tx, user, caller, false, 'code'));
    });
  }

  async function registerByCode(
    email: string,
    code: string,
    { attributes, caller }: Given,
  ): Promise<Outcome<SignedIn>> {
    return guessing(email, caller, async (tx) => {
      if (!(await proofs.tryCode(tx, email, ['register'], code, true))) return wrong;
      const joined = await join(tx, email, attributes, caller, 'code');
      return joined ? ok(joined) : no({ kind: 'exists' });
    });
  }

  async function enterBy(
    credentials: Credentials,
    joining: boolean,
    byCode: (email: string, code: string, given: Given) => Promise<Outcome<SignedIn>>,
  ): Promise<Outcome<SignedIn>> {
    const { validators, attributes = {}, caller } = credentials;
    const problem = profileProblem(attributes);
    if (problem) return no({ kind: 'invalid', message: problem });
    const given = { attributes, caller };
    const outcome =
      validators.tokenExchange !== undefined
        ? await withKey(validators.tokenExchange, joining, given)
        : await withCode(credentials.email, validators.code, (email, code) => byCode(email, code, given));
    if (outcome.ok) outbox.nudge();
    return outcome;
  }

  async function withCode<T>(
    text: string | undefined,
    code: string | undefined,
    use: (email: string, code: string) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    if (text === undefined || code === undefined)
      return no({ kind: 'invalid', message: 'An email address and a code are needed.' });
    const email = normalEmail(text);
    if (email === null) return badEmail;
    const digits = code.replace(/\s/g, '');
    return /^\d{6}$/.test(digits) ? use(email, digits) : wrong;
  }

  return {
    bySocial,
    checkCode: (text, code, caller) =>
      withCode(text, code, (email, digits) =>
        guessing(email, caller, async (tx) =>
          (await proofs.tryCode(tx, email, everyPurpose, digits, false)) ? ok(null) : wrong,
        ),
      ),
    login: (credentials) => enterBy(credentials, false, loginByCode),
    register: (credentials) => enterBy(credentials, true, registerByCode),
    async peekLink(token) {
      const state = await proofs.peekLink(database.db, token);
      return typeof state === 'string' ? no({ kind: `link-${state}` }) : ok(state);
    },
    async useLink(token, caller) {
      const outcome = await database.transaction(async (tx): ReturnType<Accounts['useLink']> => {
        const link = await proofs.spendLink(tx, token);
        if (typeof link === 'string') {
          // Once, or one link would fill the trail.
          if (link !== 'unknown' && (await proofs.failsFirst(tx, token)))
            await audit(tx, { event: 'sign-in failed', caller, detail: `link ${link}` });
          return no({ kind: `link-${link}` });
        }
        const { email, purpose, redirect } = link;
        let user = await owner(tx, email, caller);
        if (!user && purpose === 'register') {
          const joined = await join(tx, email, {}, caller, 'link');
          if (joined) return ok({ ...joined, redirect });
          // Another link made the account just now.
          user = await owner(tx, email, caller);
        }
        return user
          ? ok({ ...(await enter(tx, user, caller, false, 'link')), redirect })
          : no({ kind: 'unknown-user' });
      });
      if (outcome.ok) outbox.nudge();
      return outcome;
    },
  };
}
