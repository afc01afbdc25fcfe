// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Drawn, draw, field, submit, type } from '../shared/testing.tsx';
import DeleteAccount from './DeleteAccount.island.tsx';
import Sessions from './Sessions.island.tsx';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
const went = vi.fn();
let drawn: Drawn;
const form = () => drawn.host.querySelector('form') as HTMLFormElement;
const alerts = () =>
  [...drawn.host.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).filter(Boolean);

beforeEach(() => {
  fetched.mockReset();
  went.mockReset();
  vi.stubGlobal('fetch', fetched);
  vi.stubGlobal('location', { assign: went, pathname: '/dashboard/privacy' });
});
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

describe('deleting the account', () => {
  beforeEach(async () => {
    drawn = await draw(<DeleteAccount email="ada@example.com" />);
  });
  const address = () => field('Type ada@example.com to confirm');

  it('is a plain form that works without a script', () => {
    expect([form().getAttribute('action'), form().method, address().name]).toEqual([
      ...['/account/delete', 'post', 'email'],
    ]);
  });

  it('sends no request when the typed address is not the account’s', async () => {
    await type(address(), 'eve@example.com');
    await submit(form());
    expect(alerts()).toEqual(['That isn’t this account’s email address. Nothing was deleted.']);
    expect(document.activeElement).toBe(address());
    expect(fetched).not.toHaveBeenCalled();
  });

  it('sends one request, clears this browser’s copies, and opens the page that confirms it', async () => {
    localStorage.setItem('email', 'ada@example.com');
    fetched.mockImplementation(async () => Response.json({ message: 'gone' }));
    await type(address(), ' Ada@Example.com ');
    await submit(form());
    await vi.waitFor(() => expect(went).toHaveBeenCalledWith('/account/deleted'));
    expect(fetched.mock.calls.map(([path, { body }]) => [path, body])).toEqual([
      ['/blaize/forget-me', JSON.stringify({ email: 'ada@example.com' })],
    ]);
    expect(localStorage.getItem('email')).toBeNull();
  });

  it.each([
    ['is still there after a server error', 503, /It’s still there/],
    ['was not deleted because the session has ended', 401, /signed out, so nothing was deleted/],
    ['is kept, with the server’s reason', 409, /^stack$/],
  ])('says that the account %s', async (_what, status, words) => {
    fetched.mockImplementation(async () => Response.json({ message: 'stack' }, { status }));
    await type(address(), 'ada@example.com');
    await submit(form());
    await vi.waitFor(() => expect(alerts().join()).toMatch(words));
    expect(went).not.toHaveBeenCalled();
  });

  it('says after a lost connection and then a 401 that the account may already be deleted', async () => {
    fetched.mockRejectedValueOnce(new TypeError('offline'));
    await type(address(), 'ada@example.com');
    await submit(form());
    await vi.waitFor(() => expect(alerts().join()).toMatch(/couldn’t reach the server/));
    fetched.mockImplementation(async () => Response.json({}, { status: 401 }));
    await submit(form());
    await vi.waitFor(() => expect(alerts().join()).toMatch(/may have deleted your account already/));
  });
});

describe('signing out everywhere', () => {
  beforeEach(async () => {
    const session = { id: '1', device: 'Chrome on Windows', since: 'May 1, 2026', lastSeen: 'just now', current: true };
    drawn = await draw(
      <Sessions sessions={[session, { ...session, id: '2', device: 'Safari on iPhone', current: false }]} />,
    );
  });

  it('lists the devices, marks this one, and signs all of them out (spec section 7)', async () => {
    const items = [...drawn.host.querySelectorAll('li')].map(({ textContent }) => textContent);
    expect(items).toEqual([
      expect.stringContaining('Chrome on WindowsThis device'),
      expect.not.stringContaining('This device'),
    ]);
    expect(form().getAttribute('action')).toBe('/account/sign-out');
    fetched.mockImplementation(async () => Response.json({ message: 'out' }));
    await submit(form());
    await vi.waitFor(() => expect(went).toHaveBeenCalledWith('/account/signed-out'));
    const [path, init] = fetched.mock.calls[0] ?? [];
    expect([path, JSON.parse(String(init?.body))]).toEqual(['/blaize/logout', { where: 'EVERYWHERE' }]);
  });

  it('says that the reader is still signed in when it fails', async () => {
    fetched.mockImplementation(async () => Response.json({}, { status: 503 }));
    await submit(form());
    await vi.waitFor(() => expect(alerts().join()).toMatch(/still signed in/));
    expect(went).not.toHaveBeenCalled();
  });
});
