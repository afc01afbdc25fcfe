// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publication } from '../../publication.ts';
import { anonymousSession, loadingSession, sessionOf } from '../accounts/session.ts';
import { readConsent } from '../consent/model.ts';
import { makeAudience } from './marfeel.ts';
import { type VisitorType, visitorType } from './model.ts';
import { defaultAddresses } from './settings.ts';

const signedIn = (...activeProducts: string[]) => sessionOf({ authenticated: true, activeProducts });
const codes = publication.visitorTypeCodes;

describe('visitorType', () => {
  it('follows the precedence of spec section 4', () => {
    expect(visitorType(loadingSession)).toBeNull();
    expect(visitorType(anonymousSession)).toBe('anonymous');
    expect(visitorType(signedIn())).toBe('registered');
    expect(visitorType(signedIn('sun-reader'))).toBe('reader');
    expect(visitorType(signedIn('sun-reader', 'sun-member'))).toBe('member');
    expect(visitorType(signedIn('sun-reader', 'sun-member', 'sun-founder'))).toBe('founder');
  });

  it('has the codes of spec section 3, and is never “subscriber”', () => {
    expect(codes).toEqual({ anonymous: 0, registered: 1, subscriber: 2, reader: 3, member: 4, founder: 5 });
    const all = [
      anonymousSession,
      signedIn(),
      ...['reader', 'member', 'founder'].map((each) => signedIn(`sun-${each}`)),
    ];
    expect(all.map(visitorType)).not.toContain('subscriber');
  });
});

describe('the Marfeel adapter', () => {
  const page = { kind: 'home', section: null, article: null };
  const settings = { account: '1234', scriptUrl: defaultAddresses.audience };
  const audience = (own: Readonly<Record<VisitorType, number>> = codes) => makeAudience({ settings, page, codes: own });
  type Command = [name: string, action: (compass: { setUserType(code: number): void }) => void];
  /** The codes that Marfeel gets when it runs the queued commands. */
  function sent(): number[] {
    const setUserType = vi.fn<(code: number) => void>();
    for (const [name, action] of (window.marfeel?.cmd ?? []) as unknown as Command[]) {
      expect(name).toBe('compass');
      action({ setUserType });
    }
    return setUserType.mock.calls.map(([code]) => code);
  }

  afterEach(() => {
    delete window.marfeel;
  });

  it('sends the visitor type once it is known, and again when it or the page changes', () => {
    const { visitor, route } = audience();
    route?.();
    expect(sent()).toEqual([]);
    visitor?.('anonymous');
    visitor?.('anonymous');
    expect(sent()).toEqual([0]);
    visitor?.('reader');
    route?.();
    expect(sent()).toEqual([0, 3, 3]);
  });

  it('uses Marfeel’s own numbers for its standard types, and higher ones for others', () => {
    const { anonymous, registered, subscriber, reader, member, founder } = publication.marfeelUserTypes;
    expect([anonymous, registered, subscriber, reader]).toEqual([1, 2, 3, 3]);
    // The vendor's custom types begin above these.
    expect(Math.min(member, founder)).toBeGreaterThan(3);
  });

  it('sends the code configured for the visitor type', () => {
    audience({ ...codes, registered: 2, reader: 10 }).visitor?.('reader');
    expect(sent()).toEqual([10]);
  });

  it('queues commands until its script is loaded', () => {
    audience().visitor?.('member');
    expect(sent()).toEqual([4]);
  });

  it('loads the account’s script only when allowed', () => {
    const adapter = audience();
    const script = () => document.querySelector<HTMLScriptElement>('script[type="module"]');
    expect(script()).toBeNull();
    const waiting = ['compass', () => {}] as never;
    window.marfeel = { cmd: [waiting] };
    void adapter.allow(readConsent('', false));
    expect(script()?.src).toBe('https://sdk.mrf.io/statics/marfeel-sdk.js?id=1234');
    // The loader reads the account from here; queued commands stay.
    expect(window.marfeel).toEqual({ cmd: [waiting], config: { accountId: 1234 } });
    script()?.remove();
  });

  it('passes commands to Marfeel’s own queue if it exists', () => {
    const push = vi.fn();
    window.marfeel = { cmd: { push } };
    audience().visitor?.('registered');
    expect(push).toHaveBeenCalledExactlyOnceWith(['compass', expect.any(Function)]);
  });
});
