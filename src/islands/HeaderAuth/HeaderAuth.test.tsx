// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { act } from 'react';
import { hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readDraft, storeDraft } from '../../lib/comments/drafts.ts';
import { $ui } from '../../stores/ui.ts';
import HeaderAuth from './HeaderAuth.island.tsx';

const links = ['/dashboard/account', '/dashboard/profile', '/dashboard/contact'];

let loggedOut: unknown[] = [];
let status = 200;
const server = setupServer(
  http.post('*/blaize/logout', async ({ request }) => {
    loggedOut.push(await request.json());
    return status === 0 ? HttpResponse.error() : HttpResponse.json({ message: 'Not now.' }, { status });
  }),
);

let host: HTMLElement;
let root: Root;
const complaints = vi.fn();

/** As much of popovers as the menu needs: jsdom hides them and can't show them. */
function stubPopover(): void {
  const toggle = (newState: string) =>
    function (this: HTMLElement) {
      this.style.display = newState === 'open' ? 'block' : '';
      this.dispatchEvent(Object.assign(new Event('toggle'), { newState }));
    };
  Object.assign(HTMLElement.prototype, { showPopover: toggle('open'), hidePopover: toggle('closed') });
}

const button = () => host.querySelector<HTMLButtonElement>('[aria-haspopup="menu"]') as HTMLButtonElement;
const panel = () => host.querySelector<HTMLElement>('[popover]') as HTMLElement;
const focused = () => document.activeElement?.textContent;
const press = (key: string) =>
  act(() =>
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })),
  );
const leave = () =>
  act(async () => {
    host.querySelector('form')?.requestSubmit();
  });

beforeAll(() => {
  server.listen({ onUnhandledFrame: 'error' });
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  stubPopover();
});
beforeEach(() => {
  loggedOut = [];
  status = 200;
  complaints.mockClear();
  host = document.createElement('div');
  host.innerHTML = renderToString(<HeaderAuth />);
  document.body.replaceChildren(host);
  act(() => {
    root = hydrateRoot(host, <HeaderAuth />, { onRecoverableError: complaints });
  });
});
afterEach(() => act(() => root.unmount()));
afterAll(() => server.close());

describe('the reader’s menu', () => {
  it('works without a script: popover, links, and a form to sign out', () => {
    expect(button().getAttribute('popovertarget')).toBe(panel().id);
    expect([...host.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(links);
    const form = host.querySelector('form');
    expect(form?.getAttribute('action')).toBe('/account/sign-out');
    expect(form?.getAttribute('method')).toBe('post');
    expect(form?.querySelector('button')?.type).toBe('submit');
  });

  it('hydrates the server’s HTML without a mismatch', () => {
    expect(complaints).not.toHaveBeenCalled();
  });

  it('opens at its last item with the up arrow and at its first with the down arrow', () => {
    button().focus();
    press('ArrowUp');
    expect(focused()).toBe('Sign out');
    expect($ui.get().dashMenu).toBe(true);
    press('Escape');
    expect(document.activeElement).toBe(button());
    expect($ui.get().dashMenu).toBe(false);
    press('ArrowDown');
    expect(focused()).toBe('Dashboard');
  });

  it('moves the focus with the arrow keys, Home, End and first letters', () => {
    button().focus();
    press('ArrowDown');
    const way = ['ArrowDown', 'End', 'ArrowDown', 'ArrowUp', 'Home', 'c', 'z'].map((key) => {
      press(key);
      return focused();
    });
    expect(way).toEqual(['Profile', 'Sign out', 'Dashboard', 'Sign out', 'Dashboard', 'Contact', 'Contact']);
  });

  it('follows a link on the space bar', () => {
    button().focus();
    press('ArrowDown');
    const clicked = vi.fn((event: Event) => event.preventDefault());
    host.querySelector('a')?.addEventListener('click', clicked);
    press(' ');
    expect(clicked).toHaveBeenCalledOnce();
  });

  it('signs out everywhere with one request for two submits, and deletes drafts once that succeeds', async () => {
    storeDraft(7, 0, { text: 'To the editor only', key: 'key-one' });
    status = 500;
    await act(async () => {
      host.querySelector('form')?.requestSubmit();
      host.querySelector('form')?.requestSubmit();
    });
    await vi.waitFor(() => expect(host.querySelector('[role="alert"]')?.textContent).toBe('Not now.'));
    expect(loggedOut).toEqual([{ where: 'EVERYWHERE' }]);
    expect(readDraft(7, 0)).not.toBeNull();
    status = 200;
    await leave();
    await vi.waitFor(() => expect(loggedOut).toHaveLength(2));
    await vi.waitFor(() => expect(readDraft(7, 0)).toBeNull());
  });

  it('says that there is no connection when signing out fails without one', async () => {
    status = 0;
    await leave();
    await vi.waitFor(() => expect(host.querySelector('[role="alert"]')?.textContent).toMatch(/^We couldn’t reach/));
  });
});
