/**
 * Turns proofs into sessions. The first proof of an address deletes what was stored under the account before, as declared in the
 * features' personal data, unless the browser is already signed in to the account.
 */
import type { AccountsTransaction } from '../database.ts';
import {
  countAgainst,
  type Dependencies,
  fail,
  invalid,
  invalidEmail,
  limited,
  ok,
  recordAudit,
} from './dependencies.server.ts';
import { accountMessages } from './messages.ts';
import { normalEmail } from './model.ts';
import { profileProblem } from './profile.ts';
import {
  hasProof,
  readLink,
  recordFirstFailure,
  type SocialProof,
  spendLink,
  spendSocialKey,
  tryCode,
} from './proofs.server.ts';
import { mailLink } from './sending.server.ts';
import type { Accounts, Caller, Credentials, Outcome, Profile, Purpose, SignedIn } from './service.ts';
import { isSignedInAs, openSession } from './sessions.server.ts';
import {
  addIdentity,
  addToProfile,
  confirmUser,
  createUser,
  lockUser,
  readProfile,
  type User,
  userByEmail,
  userByIdentity,
} from './users.server.ts';

type SignIn = Pick<Accounts, 'checkCode' | 'login' | 'register' | 'peekLink' | 'useLink'>;

/** The caller, and attributes for the profile. */
interface Request {
  readonly attributes: Profile;
  readonly caller: Caller;
}

const wrongCode = fail({ kind: 'invalid-code' });
const staleKey = invalid(accountMessages.staleSocial);
const everyPurpose: readonly Purpose[] = ['login', 'register', 'completeRegistration'];

export function createSignIn(deps: Dependencies): SignIn {
  return {
    checkCode: (text, code, caller) =>
      withParsedCode(text, code, (email, digits) =>
        countingGuess(deps, email, caller, async (tx) =>
          (await tryCode(deps, tx, email, everyPurpose, digits, false)) ? ok(null) : wrongCode,
        ),
      ),
    login: (credentials) => signIn(deps, credentials, 'login'),
    register: (credentials) => signIn(deps, credentials, 'register'),
    async peekLink(token) {
      const state = await readLink(deps, deps.database.db, token);
      return typeof state === 'string' ? fail({ kind: `link-${state}` }) : ok(state);
    },
    useLink: (token, caller) => useLink(deps, token, caller),
  };
}

async function signIn(
  deps: Dependencies,
  { stateKey, email, code, attributes = {}, caller }: Credentials,
  how: 'login' | 'register',
): Promise<Outcome<SignedIn>> {
  const problem = profileProblem(attributes);
  if (problem) return invalid(problem);
  const request = { attributes, caller };
  const byCode = how === 'login' ? loginByCode : registerByCode;
  const outcome =
    stateKey !== undefined
      ? await bySocialKey(deps, stateKey, how, request)
      : await withParsedCode(email, code, (address, digits) => byCode(deps, address, digits, request));
  if (outcome.ok) deps.outbox.nudge();
  return outcome;
}

const welcome = ({ outbox }: Dependencies, tx: AccountsTransaction, to: string, profile: Profile): Promise<void> => {
  const { first_name: name } = profile;
  return outbox.enqueue(tx, { kind: 'welcome', to, firstName: typeof name === 'string' && name !== '' ? name : null });
};

/** Confirms the address of an account, because its owner has proven it. */
async function confirmAddress(
  deps: Dependencies,
  tx: AccountsTransaction,
  id: string,
  caller: Caller,
): Promise<User | null> {
  const user = await lockUser(deps, tx, id);
  if (!user || user.emailVerified) return user;
  if (!(await isSignedInAs(deps, tx, caller.cookies, id))) await deps.personalData.disown(tx, id);
  await confirmUser(deps, tx, id);
  await recordAudit(deps, tx, { event: 'address confirmed', userId: id, caller });
  await welcome(deps, tx, user.email, await readProfile(tx, id));
  return { ...user, emailVerified: true };
}

/** The user with an address that was just proven; `null`: there is none. */
async function confirmedUser(
  deps: Dependencies,
  tx: AccountsTransaction,
  email: string,
  caller: Caller,
): Promise<User | null> {
  const found = await userByEmail(tx, email);
  return found && confirmAddress(deps, tx, found.id, caller);
}

/** Creates an account for an address that was just proven. @returns `null` if there is one already */
async function registerUser(
  deps: Dependencies,
  tx: AccountsTransaction,
  email: string,
  { attributes, caller }: Request,
  how: string,
): Promise<SignedIn | null> {
  const user = await createUser(deps, tx, email, true);
  if (!user) return null;
  await addToProfile(deps, tx, user.id, attributes);
  await recordAudit(deps, tx, { event: 'account made', userId: user.id, email, caller, detail: how });
  await welcome(deps, tx, email, attributes);
  return openSession(deps, tx, user, caller, true, how);
}

/**
 * Signs in the user that a provider identifies.
 *
 * @param proof without an email if the provider gave none; then only an account that is already connected can be opened
 * @returns `null` if there is no account that this proof may open
 */
export async function signInBySocial(
  deps: Dependencies,
  tx: AccountsTransaction,
  { provider, subject, email, verified }: SocialProof,
  caller: Caller,
): Promise<SignedIn | null> {
  const known = await userByIdentity(tx, provider, subject);
  if (known) {
    // Only a verified address equal to the account's own proves its owner.
    const proves = verified && known.email === email;
    const user = proves ? await confirmAddress(deps, tx, known.id, caller) : await lockUser(deps, tx, known.id);
    // Read again after the row is locked: the owner may just have removed a stranger's connection.
    const connected = user && (proves || (await userByIdentity(tx, provider, subject))?.id === user.id);
    if (user && connected) {
      await addIdentity(deps, tx, user.id, provider, subject);
      return openSession(deps, tx, user, caller, false, provider);
    }
  }
  // An address that the provider hasn't verified opens no account.
  const user = verified ? await confirmedUser(deps, tx, email, caller) : null;
  if (!user) return null;
  await addIdentity(deps, tx, user.id, provider, subject);
  return openSession(deps, tx, user, caller, false, provider);
}

async function registerBySocial(
  deps: Dependencies,
  tx: AccountsTransaction,
  proof: SocialProof,
  { attributes, caller }: Request,
): Promise<SignedIn | null> {
  const { provider, subject, email, verified, firstName, lastName } = proof;
  const user = await createUser(deps, tx, email, verified);
  if (!user) return null;
  await addIdentity(deps, tx, user.id, provider, subject);
  const names = {
    ...(firstName && { first_name: firstName }),
    ...(lastName && { last_name: lastName }),
  };
  await addToProfile(deps, tx, user.id, { ...(profileProblem(names) ? {} : names), ...attributes });
  await recordAudit(deps, tx, { event: 'account made', userId: user.id, email, caller, detail: provider });
  if (verified) await welcome(deps, tx, email, { ...names, ...attributes });
  else await mailLink(deps, tx, { email, purpose: 'completeRegistration', redirect: '/' });
  return openSession(deps, tx, user, caller, true, provider);
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
    const proof = await spendSocialKey(deps, tx, key);
    if (!proof) return staleKey;
    const known = await signInBySocial(deps, tx, proof, request.caller);
    if (known) return ok(known);
    if (how === 'login') return fail({ kind: 'unknown-user' });
    const joined = await registerBySocial(deps, tx, proof, request);
    return joined ? ok(joined) : fail({ kind: 'exists' });
  });
}

async function withParsedCode<T>(
  text: string | undefined,
  code: string | undefined,
  use: (email: string, code: string) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  if (text === undefined || code === undefined) {
    return invalid(accountMessages.codeAndEmail);
  }
  const email = normalEmail(text);
  if (email === null) return invalidEmail;
  // People type and paste codes with spaces and dashes between the digits.
  const digits = code.replace(/[\s-]+/g, '');
  return /^\d{6}$/.test(digits) ? use(email, digits) : wrongCode;
}

/** Counts a guess before the code is compared, and removes the count unless the code was wrong. */
async function countingGuess<T>(
  deps: Dependencies,
  email: string,
  caller: Caller,
  attempt: (tx: AccountsTransaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const subject = { address: caller.address, account: email };
  const over = await countAgainst(deps, 'guess', subject);
  if (over) return limited(over);
  // Where nothing can be guessed, a wrong code must not keep other readers from signing in.
  const isCompared = await hasProof(deps, deps.database.db, 'code', email);
  const compared = { address: caller.address };
  const tooMany = isCompared ? await countAgainst(deps, 'comparedGuess', compared) : null;
  if (tooMany) return limited(tooMany);
  const outcome = await deps.database.transaction(async (tx) => {
    const made = await attempt(tx);
    if (!made.ok && made.failure.kind === 'invalid-code') {
      await recordAudit(deps, tx, { event: 'sign-in failed', email, caller, detail: 'code' });
    }
    return made;
  });
  if (outcome.ok || outcome.failure.kind !== 'invalid-code') {
    await deps.limiter.release('guess', subject);
    if (isCompared) await deps.limiter.release('comparedGuess', compared);
  }
  return outcome;
}

const loginByCode = (deps: Dependencies, email: string, code: string, { attributes, caller }: Request) =>
  countingGuess(deps, email, caller, async (tx): Promise<Outcome<SignedIn>> => {
    if (!(await tryCode(deps, tx, email, ['login', 'completeRegistration'], code, true))) return wrongCode;
    const user = await confirmedUser(deps, tx, email, caller);
    if (!user) return fail({ kind: 'unknown-user' });
    await addToProfile(deps, tx, user.id, attributes);
    return ok(await openSession(deps, tx, user, caller, false, 'code'));
  });

const registerByCode = (deps: Dependencies, email: string, code: string, request: Request) =>
  countingGuess(deps, email, request.caller, async (tx): Promise<Outcome<SignedIn>> => {
    if (!(await tryCode(deps, tx, email, ['register'], code, true))) return wrongCode;
    const joined = await registerUser(deps, tx, email, request, 'code');
    return joined ? ok(joined) : fail({ kind: 'exists' });
  });

async function useLink(deps: Dependencies, token: string, caller: Caller): ReturnType<Accounts['useLink']> {
  const outcome = await deps.database.transaction(async (tx): ReturnType<Accounts['useLink']> => {
    const link = await spendLink(deps, tx, token);
    if (typeof link === 'string') {
      // Recorded only once; otherwise one link could fill the audit trail.
      if (link !== 'unknown' && (await recordFirstFailure(deps, tx, token))) {
        await recordAudit(deps, tx, { event: 'sign-in failed', caller, detail: `link ${link}` });
      }
      return fail({ kind: `link-${link}` });
    }
    const { email, purpose, redirect } = link;
    let user = await confirmedUser(deps, tx, email, caller);
    if (!user && purpose === 'register') {
      const joined = await registerUser(deps, tx, email, { attributes: {}, caller }, 'link');
      if (joined) return ok({ ...joined, redirect });
      // Another link has just created the account.
      user = await confirmedUser(deps, tx, email, caller);
    }
    if (!user) return fail({ kind: 'unknown-user' });
    return ok({ ...(await openSession(deps, tx, user, caller, false, 'link')), redirect });
  });
  if (outcome.ok) deps.outbox.nudge();
  return outcome;
}
