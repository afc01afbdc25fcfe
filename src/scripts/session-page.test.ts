// @vitest-environment jsdom
import type { WritableAtom } from 'nanostores';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Session } from '../lib/accounts/session.ts';
import { correctionsId, seenPath } from '../lib/corrections/schema.ts';

vi.mock('../stores/session.ts', async () => {
  const [{ atom }, { anonymousSession }] = [await import('nanostores'), await import('../lib/accounts/session.ts')];
  return { $session: atom({ ...anonymousSession, status: 'registered', isAuthenticated: true }) };
});

const hour = 3_600_000;
const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  localStorage.clear();
  vi.resetModules();
  vi.useFakeTimers();
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    return Response.json({ stories: [], until: null });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([
  ['the first time', null, true],
  ['within an hour', Date.now() - hour / 2, false],
  ['after an hour', Date.now() - 2 * hour, true],
  ['after a time in the future, which a wrong clock stored', Date.now() + 1000 * hour, true],
])('a signed-in reader’s page requests corrections at most once an hour: %s', async (_when, last, asks) => {
  if (last !== null) localStorage.setItem(correctionsId, String(last));
  await import('./session-page.ts');
  await vi.advanceTimersByTimeAsync(4000);
  expect(asked.includes(seenPath)).toBe(asks);
});

it('a reader who signs out at once causes no request for corrections, and no record of one', async () => {
  await import('./session-page.ts');
  const { $session } = await import('../stores/session.ts');
  const { anonymousSession } = await import('../lib/accounts/session.ts');
  ($session as WritableAtom<Session>).set(anonymousSession);
  await vi.advanceTimersByTimeAsync(4000);
  expect(asked).not.toContain(seenPath);
  expect(localStorage.getItem(correctionsId)).toBeNull();
});
