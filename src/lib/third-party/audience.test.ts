// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publication } from '../../publication.ts';
import { anonymousSession, loadingSession, sessionOf } from '../accounts/session.ts';
import { readConsent } from '../consent/model.ts';
import { createAudience, makeAudience, marfeel } from './marfeel.ts';
import { visitorType } from './model.ts';
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

describe('createAudience', () => {
  it('sends the visitor type once it is known, and again when it or the page changes', () => {
    const tool = { setVisitorType: vi.fn() };
    const audience = createAudience(tool, codes);
    audience.route();
    expect(tool.setVisitorType).not.toHaveBeenCalled();
    audience.visitor('anonymous');
    audience.visitor('anonymous');
    expect(tool.setVisitorType.mock.calls).toEqual([[0]]);
    audience.visitor('reader');
    audience.route();
    expect(tool.setVisitorType.mock.calls).toEqual([[0], [3], [3]]);
  });

  it('uses Marfeel’s own numbers for its standard types, and higher ones for others', () => {
    const { anonymous, registered, subscriber, reader, member, founder } = publication.marfeelUserTypes;
    expect([anonymous, registered, subscriber, reader]).toEqual([1, 2, 3, 3]);
    // The vendor's custom types begin above these.
    expect(Math.min(member, founder)).toBeGreaterThan(3);
  });

  it('sends the code configured for the visitor type', () => {
    const tool = { setVisitorType: vi.fn() };
    createAudience(tool, { ...codes, registered: 2, reader: 10 }).visitor('reader');
    expect(tool.setVisitorType).toHaveBeenCalledExactlyOnceWith(10);
  });
});

describe('the Marfeel adapter', () => {
  afterEach(() => {
    delete window.marfeel;
  });

  it('queues commands until its script is loaded', () => {
    marfeel().setVisitorType(4);
    const [command] = (window.marfeel?.cmd ?? []) as unknown as [string, (compass: object) => void][];
    const compass = { setUserType: vi.fn() };
    command?.[1](compass);
    expect(command?.[0]).toBe('compass');
    expect(compass.setUserType).toHaveBeenCalledExactlyOnceWith(4);
  });

  it('loads the account’s script only when allowed', () => {
    const page = { kind: 'home', section: null, article: null };
    const adapter = makeAudience({ settings: { account: '1234', scriptUrl: defaultAddresses.audience }, page, codes });
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
    marfeel().setVisitorType(1);
    expect(push).toHaveBeenCalledExactlyOnceWith(['compass', expect.any(Function)]);
  });
});
