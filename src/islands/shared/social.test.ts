import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openSocial, readMessage, type SocialEnd, socialPath } from './social.tsx';

/** As much of a page with a window as openSocial uses. */
class FakePage extends EventTarget {
  readonly location = { origin: 'https://paper.example', assign: vi.fn() };
  readonly popup = { closed: false, close: vi.fn(), focus: vi.fn() };
  readonly open = vi.fn((): unknown => this.popup);
  look = () => {};
  readonly setInterval = vi.fn((look: () => void) => {
    this.look = look;
    return 1;
  });
  readonly clearInterval = vi.fn(() => {
    this.look = () => {};
  });
  say(data: unknown, from: { origin?: string; source?: unknown } = {}) {
    const { origin = this.location.origin, source = this.popup } = from;
    this.dispatchEvent(Object.assign(new Event('message'), { data, origin, source }));
  }
}

let page: FakePage;
let ends: SocialEnd[];
const open = () => openSocial('google', '/article/a?b=c', (end) => ends.push(end), page as unknown as Window);

beforeEach(() => {
  page = new FakePage();
  ends = [];
});

describe('the window for social sign-in', () => {
  it('opens with the documented features and the path to return to', () => {
    open();
    expect(page.open).toHaveBeenCalledWith(
      '/blaize/oauth/google?return=%2Farticle%2Fa%3Fb%3Dc',
      expect.any(String),
      'menubar=no,location=yes,resizable=no,scrollbars=no,status=no,width=500,height=600',
    );
  });

  it('reports a sign-in or a registration once, and closes', () => {
    open();
    page.say({ action: 'register', identifier: 'ada@example.com', stateKey: 'key-1' });
    page.say({ action: 'login', cookie: 'visitor=registered; Path=/' });
    expect(ends).toEqual([{ kind: 'register', identifier: 'ada@example.com', stateKey: 'key-1' }]);
    expect(page.popup.close).toHaveBeenCalledOnce();
    open();
    page.say({ action: 'login', cookie: 'visitor=registered; Path=/' });
    expect(ends[1]).toEqual({ kind: 'login', cookie: 'visitor=registered; Path=/' });
  });

  it('ignores messages from other sites and other windows', () => {
    open();
    const login = { action: 'login', cookie: 'a=b' };
    page.say(login, { origin: 'https://evil.example' });
    page.say(login, { source: {} });
    page.say(login, { source: null });
    expect(ends).toEqual([]);
  });

  it.each([null, 'login', 7, {}, { action: 'register' }, { action: 'dance', stateKey: 'x' }, { action: ['login'] }])(
    'ignores the message %j',
    (data) => {
      open();
      page.say(data);
      expect(ends).toEqual([]);
      expect(readMessage(data)).toBeNull();
    },
  );

  it('passes on the reason for a failure', () => {
    open();
    page.say({ action: 'failure', message: 'Google has not confirmed this address.' });
    expect(ends).toEqual([{ kind: 'failure', message: 'Google has not confirmed this address.' }]);
  });

  it('is reported as closed, and a late message is still accepted', () => {
    open();
    page.look();
    expect(ends).toEqual([]);
    page.popup.closed = true;
    page.look();
    page.look();
    expect(ends).toEqual([{ kind: 'closed' }]);
    page.say({ action: 'login', cookie: '' });
    expect(ends[1]).toEqual({ kind: 'login', cookie: null });
  });

  it('reports nothing after it is stopped', () => {
    const stop = open();
    stop();
    page.say({ action: 'login', cookie: '' });
    page.popup.closed = true;
    page.look();
    expect(ends).toEqual([]);
  });

  it('is replaced by a redirect of the whole page when it is blocked', () => {
    page.open.mockReturnValue(null);
    open();
    expect(ends).toEqual([{ kind: 'blocked' }]);
    expect(page.location.assign).toHaveBeenCalledWith(socialPath('google', '/article/a?b=c'));
  });
});
