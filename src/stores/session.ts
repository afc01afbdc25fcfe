/**
 * Who is reading (spec sections 3 and 4), one store for all islands. For an anonymous reader no request is made; for others at
 * most one for each page, and none if another page or tab has just made one.
 */
import { atom, onMount, type ReadableAtom } from 'nanostores';
import type { VisitorKind } from '../lib/accounts/products.ts';
import type { LogoutBody, MessageAnswer } from '../lib/accounts/schema.ts';
import {
  type AccessFacts,
  anonymousSession,
  loadingSession,
  type Session,
  sessionOf,
  visitorOf,
} from '../lib/accounts/session.ts';
import { featureDecisions, logout, oneTabAtATime } from '../lib/accounts/session-client.ts';
import {
  forgetProfileCopies,
  readSharedSession,
  removeSharedSession,
  storeSharedSession,
} from '../lib/accounts/storage.ts';
import { readVisitor, tabs, visitorCookie } from '../lib/accounts/visitor.ts';
import type { Reply } from '../lib/http/ask.ts';
import { whenShown } from '../lib/when-shown.ts';
import { publication } from '../publication.ts';

const $store = atom<Session>(loadingSession);

/** Loaded with the first listener; islands read it with `useStore`. */
export const $session: ReadableAtom<Session> = $store;

/** Event of the window when the session has ended in another tab. */
export const signedOutElsewhere = 'signed-out';

/** Requests are numbered, so that an old response never overwrites a newer one. */
let latest = 0;
let notifyTabs = () => {};

onMount($store, () => {
  // The server renders the same page for every reader.
  if (typeof document === 'undefined') return;
  const others = tabs(() => void load('reported'));
  notifyTabs = others.notify;
  // A page from the back-forward cache may have missed a sign-in.
  const back = (event: PageTransitionEvent) => {
    if (event.persisted) void load('opened');
  };
  addEventListener('pageshow', back);
  whenShown(() => void load('opened'));
  return () => {
    others.close();
    removeEventListener('pageshow', back);
    notifyTabs = () => {};
  };
});

/** Loads the session again after a sign-in or another change of the reader, and notifies the other tabs. */
export const refreshSession = (): Promise<void> => load('changed');

/** Signs out in all tabs, and by default on all devices. If the server refuses, nothing changes. */
export async function signOut(where?: LogoutBody['where']): Promise<Reply<MessageAnswer | null>> {
  const answer = await logout(where);
  // 401: there was no session.
  if (answer.ok || answer.status === 401) {
    latest++;
    forgetHint();
    setSession(anonymousSession);
    notifyTabs();
  }
  return answer;
}

/**
 * Loads the session.
 *
 * @param why the page was opened, another tab reported a change, or this page made one
 */
async function load(why: 'opened' | 'reported' | 'changed'): Promise<void> {
  const mine = ++latest;
  const visitor = readVisitor(document.cookie);
  if (visitor === null) {
    const wasKnown = removeSharedSession();
    if (wasKnown) forgetStored();
    if (why !== 'changed' && $store.get().isAuthenticated) dispatchEvent(new Event(signedOutElsewhere));
    setSession(anonymousSession);
    // Without a script, or when a session expires, no tab reports the sign-out.
    if (why === 'changed' || (why === 'opened' && wasKnown)) notifyTabs();
    return;
  }
  let mustNotify = why === 'changed';
  const shared = () => (why === 'changed' ? null : readSharedSession(visitor));
  // The tab that held the lock before may have just stored an answer.
  const facts =
    shared() ??
    (await oneTabAtATime(async () => {
      const ready = shared();
      // A mailed link signs in by opening a page; the other tabs learn it from that page's response.
      mustNotify ||= ready === null && why === 'opened';
      return ready ?? ask(visitor);
    }));
  if (mine !== latest) return;
  const session = sessionOf(facts);
  // `null` means that the server did not respond.
  if (facts !== null && !session.isAuthenticated) {
    forgetHint();
    // The cookies of an expired session are gone, so this one was ended elsewhere. That is rare, so its module is loaded here.
    void import('../lib/article/forget-reader.ts').then(
      (module) => module.forgetReader(),
      () => {},
    );
  }
  setSession(session);
  // A tab that receives a report sends none, or two tabs would answer each other forever.
  if (mustNotify) notifyTabs();
}

async function ask(hint: VisitorKind): Promise<AccessFacts | null> {
  const answer = await featureDecisions({ featureIds: [...publication.featureIds], path: location.pathname });
  const facts = answer.ok ? (answer.value?.accessDetails ?? null) : null;
  // The response may have set a new hint cookie, and the session is shared under that new hint. If the cookie has since changed
  // again, the response is older than that change and isn't shared.
  const now = readVisitor(document.cookie);
  if (facts && now && (now === hint || now === visitorOf(sessionOf(facts)))) storeSharedSession(now, facts);
  return facts;
}

function setSession(session: Session): void {
  $store.set(session);
  const { dataset } = document.documentElement;
  const visitor = visitorOf(session);
  if (visitor === null) delete dataset.visitor;
  else dataset.visitor = visitor;
}

/** Removes what this browser stored for its user, including stories for offline reading (src/client/story-worker.ts). */
function forgetStored(): void {
  forgetProfileCopies();
  navigator.serviceWorker?.controller?.postMessage({ forget: true });
}

/** Removes all that a page knows of its user before it asks the server. */
function forgetHint(): void {
  removeSharedSession();
  forgetStored();
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser, and this is one cookie.
  document.cookie = `${visitorCookie}=; Path=/; Max-Age=0; SameSite=Lax`;
}
