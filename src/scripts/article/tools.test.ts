// @vitest-environment jsdom
import type { WritableAtom } from 'nanostores';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { anonymousSession, type Session } from '../../lib/accounts/session.ts';
import { toolMessages } from '../../lib/article/tools.ts';
import { $session } from '../../stores/session.ts';
import { $ui, closeAuthPopup } from '../../stores/ui.ts';
import { runTool } from './tools.ts';

const refreshSession = vi.hoisted(() => vi.fn<() => Promise<void>>());
vi.mock('../../stores/session.ts', async () => {
  const { atom } = await import('nanostores');
  return { $session: atom(), refreshSession };
});

const reader: Session = { ...anonymousSession, status: 'registered', isAuthenticated: true };
const setSession = (session: Session) => ($session as WritableAtom<Session>).set(session);
const button = () => document.querySelector<HTMLButtonElement>('button') as HTMLButtonElement;
const status = () => document.querySelector('[role=status]')?.textContent;
/** Status codes of the server's next answers, in order; the last one stays. */
let answers: number[];
const asked = vi.fn(async () => {
  const code = (answers.length > 1 ? answers.shift() : answers[0]) ?? 500;
  return Response.json(code === 200 ? { saved: true } : { message: 'Sign in first.' }, { status: code });
});

beforeEach(() => {
  document.body.innerHTML =
    '<div data-popups></div><div data-tools="7" data-title="A story"><button data-tool="save"><span>Save</span></button><p role="status"></p></div>';
  closeAuthPopup();
  asked.mockClear();
  vi.stubGlobal('fetch', asked);
});
afterEach(() => vi.unstubAllGlobals());

it('a reader whose session has ended elsewhere is asked to sign in, then the story is saved', async () => {
  setSession(reader);
  refreshSession.mockImplementation(async () => setSession(anonymousSession));
  answers = [401, 200];
  await runTool(button(), false);
  expect([$ui.get().authPopup, $session.get()]).toEqual([{ heading: toolMessages.signInToSave }, anonymousSession]);
  setSession(reader);
  await vi.waitFor(() => expect(status()).toBe(toolMessages.saved));
  expect(asked).toHaveBeenCalledTimes(2);
});

it.each([
  [200, toolMessages.saved],
  [401, 'Sign in first.'],
])('a reader who has signed in elsewhere saves once more, which is answered with %i', async (again, message) => {
  setSession(anonymousSession);
  refreshSession.mockImplementation(async () => setSession(reader));
  answers = [401, again];
  await runTool(button(), false);
  expect([status(), $ui.get().authPopup, asked.mock.calls.length]).toEqual([message, null, 2]);
});

it.each([
  ['NotAllowedError', 1],
  ['AbortError', 0],
])(
  'the page’s own menu opens if the device’s share sheet can’t, unless the reader closed it: %s',
  async (name, opened) => {
    const showPopover = vi.fn();
    const tool = Object.assign(document.createElement('button'), { popoverTargetElement: { showPopover } });
    tool.dataset.tool = 'share';
    vi.stubGlobal('navigator', { share: () => Promise.reject(new DOMException('', name)) });
    await runTool(tool, true);
    expect(showPopover).toHaveBeenCalledTimes(opened);
  },
);
