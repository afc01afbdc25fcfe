// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessFacts, Session } from '../lib/accounts/session.ts';
import { sharedFor } from '../lib/accounts/storage.ts';

/** The answer of the account service's stand-in, and how often it was asked. */
let facts: AccessFacts;
let asked = 0;
let questions: unknown[] = [];
let loggedOut: unknown[] = [];
let status = 200;
/** Resolves when the answer may be sent. */
let gate: Promise<void> = Promise.resolve();

const server = setupServer(
  http.post('*/zephr/feature-decisions', async ({ request }) => {
    asked++;
    questions.push(await request.json());
    const then = { facts, status };
    await gate;
    return HttpResponse.json(then.status === 200 ? { accessDetails: then.facts } : {}, { status: then.status });
  }),
  http.post('*/blaize/logout', async ({ request }) => {
    loggedOut.push(await request.json());
    return HttpResponse.json({ message: 'Session deleted' }, { status });
  }),
);

const closing: (() => void)[] = [];
function closeTabs(): void {
  for (const close of closing.splice(0)) close();
}

/** Opens a tab: stores of its own that share cookies, storage, locks and channels with the others. */
async function tab() {
  vi.resetModules();
  const store = await import('./session.ts');
  const seen: Session['status'][] = [];
  store.$session.subscribe(({ status: now }) => void seen.push(now));
  // A store stays mounted for a second after its last listener; a closed tab doesn't.
  const { cleanStores } = await import('nanostores');
  closing.push(() => cleanStores(store.$session));
  const settled = () => vi.waitFor(() => expect(store.$session.get().status).not.toBe('loading'));
  return { ...store, seen, settled, status: () => store.$session.get().status };
}

function setHint(kind: string | null): void {
  // biome-ignore lint/suspicious/noDocumentCookie: as the server's answer would.
  document.cookie = kind === null ? 'visitor=; Path=/; Max-Age=0' : `visitor=${kind}; Path=/`;
}

const mark = () => document.documentElement.dataset.visitor;

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
beforeEach(() => {
  facts = { authenticated: true, activeProducts: [] };
  asked = 0;
  questions = [];
  loggedOut = [];
  status = 200;
  gate = Promise.resolve();
  localStorage.clear();
  setHint(null);
  delete document.documentElement.dataset.visitor;
});
afterEach(() => {
  closeTabs();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

describe('$session', () => {
  it('is anonymous without a request when there is no visitor cookie', async () => {
    const { status: now, seen } = await tab();
    expect(now()).toBe('anonymous');
    expect(seen).toEqual(['anonymous']);
    expect(asked).toBe(0);
    expect(mark()).toBeUndefined();
  });

  it('asks the server once when the visitor cookie names a reader, and is loading until then', async () => {
    setHint('reader');
    facts = { authenticated: true, activeProducts: ['sun-reader'] };
    const { $session, settled, seen } = await tab();
    await settled();
    expect(seen).toEqual(['loading', 'customer']);
    expect($session.get()).toMatchObject({ isReader: true, activeProduct: 'reader' });
    expect(questions).toEqual([{ featureIds: [], path: '/' }]);
    expect(mark()).toBe('reader');
  });

  it('corrects the page’s data-visitor attribute when the visitor cookie was wrong', async () => {
    setHint('registered');
    facts = { authenticated: true, activeProducts: ['sun-founder'] };
    await (await tab()).settled();
    expect(mark()).toBe('founder');
  });

  it('deletes the visitor cookie and the reader’s drafts when the server knows no session', async () => {
    setHint('member');
    localStorage.setItem('comment-draft:7:0', '{}');
    sessionStorage.setItem('broadsheet-checkout', '{}');
    facts = { authenticated: false };
    const { settled, status: now } = await tab();
    await settled();
    expect(now()).toBe('anonymous');
    expect(mark()).toBeUndefined();
    expect(document.cookie).not.toContain('visitor');
    await vi.waitFor(() => expect([localStorage.length, sessionStorage.length]).toEqual([0, 0]));
    await tab();
    expect(asked).toBe(1);
  });

  it.each([500, 404, 429])(
    'falls back to anonymous when the server answers %i, and asks again on the next page',
    async (code) => {
      setHint('member');
      status = code;
      const { settled, status: now } = await tab();
      await settled();
      expect(now()).toBe('anonymous');
      expect(mark()).toBeUndefined();
      expect(document.cookie).toContain('visitor=member');
      status = 200;
      facts = { authenticated: true, activeProducts: ['sun-member'] };
      const next = await tab();
      await next.settled();
      expect(next.status()).toBe('customer');
      expect(asked).toBe(2);
    },
  );
});

describe('tabs of one browser', () => {
  it('share the server’s answer until it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    setHint('registered');
    await (await tab()).settled();
    const second = await tab();
    expect(second.seen).toEqual(['registered']);
    expect(asked).toBe(1);
    vi.setSystemTime(Date.now() + sharedFor);
    await (await tab()).settled();
    expect(asked).toBe(2);
  });

  it('do not reuse an answer for another kind of reader, nor one from the future', async () => {
    setHint('registered');
    await (await tab()).settled();
    setHint('member');
    await (await tab()).settled();
    expect(asked).toBe(2);
    // The first tab would ask, too, if the second one's message reached it after this change of the clock.
    closeTabs();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10 * sharedFor });
    await (await tab()).settled();
    expect(asked).toBe(3);
  });

  it('opened at the same time ask the server once, in browsers with locks', async () => {
    stubLocks();
    setHint('registered');
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const [first, second] = [await tab(), await tab()];
    open();
    await first.settled();
    await second.settled();
    expect(second.status()).toBe('registered');
    expect(asked).toBe(1);
  });

  it('keep what they show until a slow answer arrives, and wait at most eight seconds for that of another tab', async () => {
    stubLocks();
    setHint('registered');
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const limit = new AbortController();
      setTimeout(() => limit.abort(), ms);
      return limit.signal;
    });
    const [first, second] = [await tab(), await tab()];
    await vi.waitFor(() => expect(asked).toBe(1));
    await vi.advanceTimersByTimeAsync(8000);
    await vi.waitFor(() => expect(asked).toBe(2));
    expect([first.seen, second.seen]).toEqual([['loading'], ['loading']]);
    open();
    await first.settled();
    await second.settled();
    expect([...first.seen, ...second.seen]).not.toContain('anonymous');
  });

  it('learn of a sign-in without asking the server themselves', async () => {
    const [here, there] = [await tab(), await tab()];
    expect(there.status()).toBe('anonymous');
    setHint('reader');
    facts = { authenticated: true, activeProducts: ['sun-reader'] };
    await here.refreshSession();
    expect(here.$session.get().isReader).toBe(true);
    await vi.waitFor(() => expect(there.status()).toBe('customer'));
    expect(asked).toBe(1);
  });

  it('learn of a sign-out', async () => {
    setHint('registered');
    const here = await tab();
    await here.settled();
    const there = await tab();
    expect(there.status()).toBe('registered');
    const told = vi.fn();
    const { signedOutElsewhere } = there;
    addEventListener(signedOutElsewhere, told);
    await here.signOut();
    expect(here.status()).toBe('anonymous');
    expect(loggedOut).toEqual([{ where: 'EVERYWHERE' }]);
    await vi.waitFor(() => expect(there.status()).toBe('anonymous'));
    // Only the other tab: the one that signs out goes to another page itself.
    expect(told).toHaveBeenCalledOnce();
    removeEventListener(signedOutElsewhere, told);
    expect(mark()).toBeUndefined();
    expect(document.cookie).not.toContain('visitor');
    expect(asked).toBe(1);
  });

  it('learn of a sign-in by a link that was opened in another tab', async () => {
    const there = await tab();
    setHint('registered');
    await (await tab()).settled();
    await vi.waitFor(() => expect(there.status()).toBe('registered'));
    expect(asked).toBe(1);
  });

  it('become anonymous when a page opens without the visitor cookie, as after a sign-out by a form', async () => {
    setHint('registered');
    const there = await tab();
    await there.settled();
    setHint(null);
    await tab();
    await vi.waitFor(() => expect(there.status()).toBe('anonymous'));
    expect(asked).toBe(1);
  });

  it('become anonymous when another tab learns from the server that the session has ended', async () => {
    setHint('registered');
    const there = await tab();
    await there.settled();
    facts = { authenticated: false };
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + sharedFor });
    const here = await tab();
    await here.settled();
    expect(here.status()).toBe('anonymous');
    await vi.waitFor(() => expect(there.status()).toBe('anonymous'));
    expect(document.cookie).not.toContain('visitor');
    expect(asked).toBe(2);
  });

  it('do not keep each other asking the server when they share no storage', async () => {
    vi.stubGlobal('localStorage', undefined);
    setHint('registered');
    const [first, second] = [await tab(), await tab()];
    await first.refreshSession();
    await second.settled();
    // Two pages and the refresh; beyond these, each change costs one question of the other tab.
    const settledAt = await vi.waitUntil(async () => {
      const before = asked;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return asked === before && asked;
    });
    expect(settledAt).toBeLessThanOrEqual(6);
  });

  it('stay signed in when signing out fails with 500, but not with 401', async () => {
    setHint('registered');
    const here = await tab();
    await here.settled();
    status = 500;
    expect(await here.signOut()).toMatchObject({ ok: false, status: 500 });
    expect(here.status()).toBe('registered');
    status = 401;
    await here.signOut('THIS_DEVICE');
    expect(here.status()).toBe('anonymous');
  });

  it('do not let a late answer undo a sign-out', async () => {
    setHint('registered');
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const fetched = vi.spyOn(globalThis, 'fetch');
    const here = await tab();
    await vi.waitFor(() => expect(asked).toBe(1));
    await here.signOut();
    open();
    const late = (await fetched.mock.results[0]?.value) as Response;
    await vi.waitFor(() => expect(late.bodyUsed).toBe(true));
    // The store has the answer in the same turn of the event loop as its text.
    await new Promise((resolve) => setTimeout(resolve));
    expect(here.seen).toEqual(['loading', 'anonymous']);
    expect(localStorage.getItem('broadsheet-session')).toBeNull();
  });

  it('do not share an answer that contradicts a visitor cookie set during the request', async () => {
    setHint('registered');
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const here = await tab();
    await vi.waitFor(() => expect(asked).toBe(1));
    // Another page has bought a subscription in the meantime.
    setHint('member');
    open();
    await here.settled();
    facts = { authenticated: true, activeProducts: ['sun-member'] };
    const next = await tab();
    await next.settled();
    expect(asked).toBe(2);
    expect(next.status()).toBe('customer');
  });

  it('share an answer that matches a visitor cookie set during the request', async () => {
    setHint('registered');
    facts = { authenticated: true, activeProducts: ['sun-member'] };
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const here = await tab();
    await vi.waitFor(() => expect(asked).toBe(1));
    setHint('member');
    open();
    await here.settled();
    expect((await tab()).status()).toBe('customer');
    expect(asked).toBe(1);
  });

  it('check the visitor cookie again when a page returns from the back/forward cache', async () => {
    setHint('registered');
    const here = await tab();
    await here.settled();
    setHint(null);
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    expect(here.status()).toBe('anonymous');
  });

  it('work without BroadcastChannel, locks and localStorage', async () => {
    vi.stubGlobal('BroadcastChannel', undefined);
    vi.stubGlobal('localStorage', undefined);
    setHint('registered');
    const here = await tab();
    await here.settled();
    expect(here.status()).toBe('registered');
    await here.signOut();
    expect(here.status()).toBe('anonymous');
  });

  it('learn of changes through storage events in browsers without BroadcastChannel', async () => {
    vi.stubGlobal('BroadcastChannel', undefined);
    setHint('registered');
    const there = await tab();
    await there.settled();
    setHint(null);
    window.dispatchEvent(new StorageEvent('storage', { key: 'broadsheet-session' }));
    expect(there.status()).toBe('anonymous');
  });
});

/** One holder at a time, as the browser's locks are. */
function stubLocks(): void {
  let last: Promise<unknown> = Promise.resolve();
  const request = (_name: string, action: () => Promise<unknown>) => {
    const mine = last.then(action);
    last = mine.catch(() => {});
    return mine;
  };
  Object.defineProperty(navigator, 'locks', { value: { request }, configurable: true });
  closing.push(() => Reflect.deleteProperty(navigator, 'locks'));
}
