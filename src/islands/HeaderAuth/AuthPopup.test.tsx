// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { $ui, closeAuthPopup, openAuthPopup, setWelcomePopup } from '../../stores/ui.ts';
import { button, click, type Drawn, draw, named, settle } from '../shared/testing.tsx';
import { Popups } from './AuthPopup.island.tsx';

vi.mock('../../stores/session.ts', async () => {
  const [{ atom }, { anonymousSession }] = [await import('nanostores'), await import('../../lib/accounts/session.ts')];
  return { $session: atom(anonymousSession), refreshSession: async () => {} };
});

let drawn: Drawn;
let opener: HTMLButtonElement;

beforeEach(async () => {
  closeAuthPopup();
  setWelcomePopup(false);
  opener = document.createElement('button');
  opener.textContent = 'Sign In';
  document.body.append(opener);
  opener.focus();
  drawn = await draw(<Popups providers={['google', 'facebook']} />);
});
afterEach(async () => {
  await drawn.remove();
  opener.remove();
});

const dialog = () => drawn.host.querySelector('dialog');
const open = (options = {}) => act(async () => openAuthPopup(options));
const name = () => document.getElementById(dialog()?.getAttribute('aria-labelledby') ?? '')?.textContent;

describe('the sign-in popup', () => {
  it('is not in the page until it is opened', async () => {
    expect(dialog()).toBeNull();
    await open();
    expect(dialog()?.open).toBe(true);
    expect(name()).toBe('Sign in or create a free account');
    expect(dialog()?.textContent).not.toContain('Have an account?');
    expect(dialog()?.textContent).toContain('terms of use');
  });

  it('has no header element, which would be a second banner of the page', async () => {
    await open();
    expect(dialog()?.querySelector('header')).toBeNull();
  });

  it('can show another heading and a note about signing in', async () => {
    await open({ heading: 'Sign in to comment', showSigninDialog: true });
    expect(name()).toBe('Sign in to comment');
    expect(dialog()?.textContent).toContain('Have an account? Use this form to sign in.');
  });

  it('focuses its field, and returns the focus when it is closed', async () => {
    await open();
    expect(document.activeElement).toBe(named('input', 'Please enter your email address below:'));
    await click(button('Close'));
    expect(dialog()?.hasAttribute('data-closing')).toBe(true);
    await settle(() => expect(dialog()).toBeNull());
    expect($ui.get().authPopup).toBeNull();
    expect(document.activeElement).toBe(opener);
  });

  it('closes on Escape', async () => {
    await open();
    await act(async () => {
      dialog()?.dispatchEvent(new Event('cancel', { cancelable: true }));
    });
    await settle(() => expect($ui.get().authPopup).toBeNull());
  });

  it('closes on a click outside, but not on a drag that ends outside', async () => {
    await open();
    const sheet = dialog() as HTMLDialogElement;
    sheet.getBoundingClientRect = () => DOMRect.fromRect({ x: 100, y: 100, width: 200, height: 200 });
    const at = (kind: string, where: number, target: Element = sheet) =>
      act(async () => {
        target.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: where, clientY: where }));
      });
    await at('mousedown', 150);
    await at('click', 20);
    expect($ui.get().authPopup).not.toBeNull();
    expect(sheet.style.display).toBe('');
    await at('mousedown', 150);
    await at('click', 150);
    expect($ui.get().authPopup).not.toBeNull();
    expect(sheet.style.display).toBe('');
    await at('mousedown', 20);
    await at('click', 20);
    await settle(() => expect($ui.get().authPopup).toBeNull());
  });

  it('keeps the page behind it from scrolling while it is open', async () => {
    const { style } = document.documentElement;
    await open();
    expect(style.overflow).toBe('hidden');
    await click(button('Close'));
    await settle(() => expect(style.overflow).toBe(''));
  });
});

describe('the welcome popup', () => {
  it('has its own heading, and gives way to the sign-in popup', async () => {
    await act(async () => setWelcomePopup(true));
    expect(name()).toBe('Sign up for breaking news and exclusive daily updates');
    await open();
    expect(name()).toBe('Sign in or create a free account');
    await click(button('Close'));
    await settle(() => expect(name()).toBe('Sign up for breaking news and exclusive daily updates'));
    expect(dialog()?.style.display).toBe('');
    await click(button('Close'));
    await settle(() => expect(dialog()).toBeNull());
    expect($ui.get().welcomePopup).toBe(false);
  });
});
