/**
 * Turns proofs into sessions. The first proof of an address takes away what was stored under the account before by someone who
 * had not proved it, as the list of personal data says (unless this very browser is signed in to the account).
 */
import type { AccountsTransaction } from '../database.ts';
import { countAgainst, type Dependencies, fail, invalidEmail, limited, ok } from './dependencies.server.ts';
import { accountMessages } from './messages.ts';
import { normalEmail, proofSeconds } from './model.ts';
import { profileProblem } from './profile.ts';
import type { SocialProof } from './proofs.server.ts';
import { linkUrl } from './sending.server.ts';
import type { Accounts, Caller, Credentials, Outcome, Profile, Purpose, SignedIn } from './service.ts';
import type { User } from './users.server.ts';

type SignIn = Pick<Accounts, 'checkCode' | 'login' | 'register' | 'peekLink' | 'useLink'>;

/** Who signs in, and what goes into the profile with it. */
interface Request {
  readonly attributes: Profile;
  readonly caller: Caller;
}

const wrongCode = fail({ kind: 'invalid-code' });
const staleKey = fail({ kind: 'invalid', message: accountMessages.staleSocial });
const everyPurpose: readonly Purpose[] = ['login', 'register', 'completeRegistration'];

export function createSignIn(deps: Dependencies): SignIn {
  return {
    checkCode: (text, code, caller) =>
      withCode(text, code, (email, digits) =>
        tryingCode(deps, email, caller, async (tx) =>
          (await deps.proofs.tryCode(tx, email, everyPurpose, digits, false)) ? ok(null) : wrongCode,
        ),
      ),
    login: (credentials) => signIn(deps, credentials, 'login'),
    register: (credentials) => signIn(deps, credentials, 'register'),
    async peekLink(token) {
      const state = await deps.proofs.peekLink(deps.database.db, token);
      return typeof state === 'string' ? fail({ kind: `link-${state}` }) : ok(state);
    },
    useLink: (token, caller) => useLink(deps, token, caller),
  };
}

async function signIn(
  deps: Dependencies,
  { email, validators, attributes = {}, caller }: Credentials,
  how: 'login' | 'register',
): Promise<Outcome<SignedIn>> {
  const problem = profileProblem(attributes);
  if (problem) return fail({ kind: 'invalid', message: problem });
  const request = { attributes, caller };
  const byCode = how === 'login' ? loginByCode : registerByCode;
  const outcome =
    validators.tokenExchange !== undefined
      ? await bySocialKey(deps, validators.tokenExchange, how, request)
      : await withCode(email, validators.code, (address, code) => byCode(deps, address, code, request));
  if (outcome.ok) deps.outbox.nudge();
  return outcome;
}

/** Opens a session. @param how for the audit trail */
async function enter(
  { sessions, audit }: Dependencies,
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

const welcome = ({ outbox }: Dependencies, tx: AccountsTransaction, to: string, profile: Profile): Promise<void> => {
  const { first_name: name } = profile;
  return outbox.enqueue(tx, { kind: 'welcome', to, firstName: typeof name === 'string' && name !== '' ? name : null });
};

/** Records that the owner of the address is here. */
async function proved(deps: Dependencies, tx: AccountsTransaction, id: string, caller: Caller): Promise<User | null> {
  const { users, sessions, profiles, others, audit } = deps;
  const user = await users.lock(tx, id);
  if (!user || user.emailVerified) return user;
  if (!(await sessions.belongs(tx, caller.cookies, id))) {
    await users.disown(tx, id);
    await others.disown(tx, id);
  }
  await users.confirm(tx, id);
  await audit(tx, { event: 'address confirmed', userId: id, caller });
  await welcome(deps, tx, user.email, await profiles.read(tx, id));
  return { ...user, emailVerified: true };
}

async function owner(deps: Dependencies, tx: AccountsTransaction, email: string, caller: Caller): Promise<User | null> {
  const found = await deps.users.byEmail(tx, email);
  return found && proved(deps, tx, found.id, caller);
}

/** Makes an account for an address that was just proved. @returns `null` when there is one already */
async function join(
  deps: Dependencies,
  tx: AccountsTransaction,
  email: string,
  { attributes, caller }: Request,
  how: string,
): Promise<SignedIn | null> {
  const user = await deps.users.create(tx, { email, verified: true });
  if (!user) return null;
  await deps.profiles.add(tx, user.id, attributes);
  await deps.audit(tx, { event: 'account made', userId: user.id, email, caller, detail: how });
  await welcome(deps, tx, email, attributes);
  return enter(deps, tx, user, caller, true, how);
}

/**
 * Signs in the user that a provider identifies.
 *
 * @param proof its email is empty when the provider told none: that opens only an account that is connected already
 * @returns `null` when there is no account that it may open
 */
export async function signInBySocial(
  deps: Dependencies,
  tx: AccountsTransaction,
  { provider, subject, email, verified }: SocialProof,
  caller: Caller,
): Promise<SignedIn | null> {
  const { users } = deps;
  const known = await users.byIdentity(tx, provider, subject);
  if (known) {
    const user =
      verified && known.email === email ? await proved(deps, tx, known.id, caller) : await users.lock(tx, known.id);
    // Read again now that the row is locked: the owner may just have removed the connection of a stranger.
    const connected = user && (verified || (await users.byIdentity(tx, provider, subject))?.id === user.id);
    if (user && connected) {
      await users.addIdentity(tx, user.id, provider, subject);
      return enter(deps, tx, user, caller, false, provider);
    }
  }
  // An address that the provider has not checked opens nothing.
  const user = verified ? await owner(deps, tx, email, caller) : null;
  if (!user) return null;
  await users.addIdentity(tx, user.id, provider, subject);
  return enter(deps, tx, user, caller, false, provider);
}

async function registerBySocial(
  deps: Dependencies,
  tx: AccountsTransaction,
  proof: SocialProof,
  { attributes, caller }: Request,
): Promise<SignedIn | null> {
  const { users, profiles, proofs, outbox, audit, siteUrl } = deps;
  const { provider, subject, email, verified, firstName, lastName } = proof;
  const user = await users.create(tx, { email, verified });
  if (!user) return null;
  await users.addIdentity(tx, user.id, provider, subject);
  const names = {
    ...(firstName && { first_name: firstName }),
    ...(lastName && { last_name: lastName }),
  };
  await profiles.add(tx, user.id, { ...(profileProblem(names) ? {} : names), ...attributes });
  await audit(tx, { event: 'account made', userId: user.id, email, caller, detail: provider });
  if (verified) await welcome(deps, tx, email, { ...names, ...attributes });
  else {
    const purpose = 'completeRegistration';
    const token = await proofs.newLink(tx, { email, purpose, redirect: '/' });
    const url = linkUrl(siteUrl, token);
    await outbox.enqueue(tx, { kind: 'link', to: email, url, purpose, minutes: proofSeconds / 60 });
  }
  return enter(deps, tx, user, caller, true, provider);
}

/** @param key state key of a social sign-in that has not become an account yet */
async function bySocialKey(
  deps: Dependencies,
  key: string,
  how: 'login' | 'register',
  request: Request,
): Promise<Outcome<SignedIn>> {
  const over = await countAgainst(deps, 'register', { address: request.caller.address });
  if (over) return limited(over);
  return deps.database.transaction(async (tx) => {
    const proof = await deps.proofs.spendSocial(tx, key);
    if (!proof) return staleKey;
    const known = await signInBySocial(deps, tx, proof, request.caller);
    if (known) return ok(known);
    if (how === 'login') return fail({ kind: 'unknown-user' });
    const joined = await registerBySocial(deps, tx, proof, request);
    return joined ? ok(joined) : fail({ kind: 'exists' });
  });
}

async function withCode<T>(
  text: string | undefined,
  code: string | undefined,
  use: (email: string, code: string) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  if (text === undefined || code === undefined) {
    return fail({ kind: 'invalid', message: accountMessages.codeAndEmail });
  }
  const email = normalEmail(text);
  if (email === null) return invalidEmail;
  const digits = code.replace(/\s/g, '');
  return /^\d{6}$/.test(digits) ? use(email, digits) : wrongCode;
}

/** Counts a try of a code before it is compared, and takes the count back unless the code was wrong. */
async function tryingCode<T>(
  { database, limiter, log, audit }: Dependencies,
  email: string,
  caller: Caller,
  attempt: (tx: AccountsTransaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const who = { address: caller.address, email };
  const over = await countAgainst({ limiter, log }, 'guess', who);
  if (over) return limited(over);
  const outcome = await database.transaction(async (tx) => {
    const made = await attempt(tx);
    if (!made.ok && made.failure.kind === 'invalid-code') {
      await audit(tx, { event: 'sign-in failed', email, caller, detail: 'code' });
    }
    return made;
  });
  if (outcome.ok || outcome.failure.kind !== 'invalid-code') await limiter.giveBack('guess', who);
  return outcome;
}

const loginByCode = (deps: Dependencies, email: string, code: string, { attributes, caller }: Request) =>
  tryingCode(deps, email, caller, async (tx): Promise<Outcome<SignedIn>> => {
    if (!(await deps.proofs.tryCode(tx, email, ['login', 'completeRegistration'], code, true))) return wrongCode;
    const user = await owner(deps, tx, email, caller);
    if (!user) return fail({ kind: 'unknown-user' });
    await deps.profiles.add(tx, user.id, attributes);
    return ok(await enter(deps, tx, user, caller, false, 'code'));
  });

const registerByCode = (deps: Dependencies, email: string, code: string, request: Request) =>
  tryingCode(deps, email, request.caller, async (tx): Promise<Outcome<SignedIn>> => {
    if (!(await deps.proofs.tryCode(tx, email, ['register'], code, true))) return wrongCode;
    const joined = await join(deps, tx, email, request, 'code');
    return joined ? ok(joined) : fail({ kind: 'exists' });
  });

async function useLink(deps: Dependencies, token: string, caller: Caller): ReturnType<Accounts['useLink']> {
  const { proofs } = deps;
  const outcome = await deps.database.transaction(async (tx): ReturnType<Accounts['useLink']> => {
    const link = await proofs.spendLink(tx, token);
    if (typeof link === 'string') {
      // Recorded once, or one link could fill the trail.
      if (link !== 'unknown' && (await proofs.failsFirst(tx, token))) {
        await deps.audit(tx, { event: 'sign-in failed', caller, detail: `link ${link}` });
      }
      return fail({ kind: `link-${link}` });
    }
    const { email, purpose, redirect } = link;
    let user = await owner(deps, tx, email, caller);
    if (!user && purpose === 'register') {
      const joined = await join(deps, tx, email, { attributes: {}, caller }, 'link');
      if (joined) return ok({ ...joined, redirect });
      // Another link made the account just now.
      user = await owner(deps, tx, email, caller);
    }
    if (!user) return fail({ kind: 'unknown-user' });
    return ok({ ...(await enter(deps, tx, user, caller, false, 'link')), redirect });
  });
  if (outcome.ok) deps.outbox.nudge();
  return outcome;
}
