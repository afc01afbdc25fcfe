// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { consentScript, consentValue, grantedByForm, optionalPurposes, readConsent } from './model.ts';

const granted = (cookies: string, gpc = false) => {
  const consent = readConsent(cookies, gpc);
  return optionalPurposes.filter((purpose) => consent[purpose]);
};

describe('readConsent, which reads the consent cookie', () => {
  it('allows nothing before a choice, or from a cookie that is malformed or of another version', () => {
    for (const cookies of [
      '',
      'a=b',
      'privacy-choices=0.measurement',
      'privacy-choices=x',
      'xprivacy-choices=1.measurement',
    ])
      expect(readConsent(cookies, false)).toEqual({
        status: 'unasked',
        necessary: true,
        gpc: false,
        measurement: false,
        marketing: false,
        advertising: false,
      });
  });

  it('reads the stored choice back among other cookies, and ignores unknown purposes', () => {
    for (const purposes of [[], ['measurement'], ['marketing', 'advertising'], optionalPurposes] as const) {
      const cookies = `a=b; privacy-choices=${consentValue(purposes, false)}; visitor=reader`;
      expect(granted(cookies)).toEqual([...purposes]);
      expect(readConsent(cookies, false).status).toBe('chosen');
    }
    expect(granted('privacy-choices=1.measurement.unheard')).toEqual(['measurement']);
  });

  it('withdraws marketing and advertising under Global Privacy Control, unless chosen while it was on', () => {
    expect(granted(`privacy-choices=${consentValue(optionalPurposes, false)}`, true)).toEqual(['measurement']);
    expect(granted(`privacy-choices=${consentValue(optionalPurposes, true)}`, true)).toEqual([...optionalPurposes]);
  });
});

describe('grantedByForm, which reads the consent form', () => {
  it('accepts the answers “all”, “none” and “chosen”, and no other', () => {
    expect(grantedByForm('all', [], false)).toEqual([...optionalPurposes]);
    expect(grantedByForm('none', ['marketing'], false)).toEqual([]);
    expect(grantedByForm('chosen', ['marketing', 'x'], false)).toEqual(['marketing']);
    expect(grantedByForm('chosen', [], false)).toEqual([]);
    expect(grantedByForm(null, ['marketing'], false)).toBeNull();
    expect(grantedByForm('yes', [], false)).toBeNull();
  });

  it('takes “all” under Global Privacy Control as measurement only', () => {
    expect(grantedByForm('all', [], true)).toEqual(['measurement']);
    expect(grantedByForm('chosen', ['advertising'], true)).toEqual(['advertising']);
  });
});

describe('the consent script in the page’s head', () => {
  const run = (value: string | null, gpc: boolean, dataset: { consent?: string; gpc?: string } = {}) => {
    const page = { cookie: value === null ? 'a=b' : `a=b; privacy-choices=${value}`, documentElement: { dataset } };
    new Function('document', 'navigator', consentScript)(page, { globalPrivacyControl: gpc });
    return dataset;
  };

  it('agrees with readConsent', () => {
    for (const gpc of [false, true]) {
      for (const made of [false, true]) {
        for (const purposes of [[], ['marketing'], optionalPurposes] as const) {
          const value = consentValue(purposes, made);
          expect(run(value, gpc).consent).toBe(granted(`privacy-choices=${value}`, gpc).join(' '));
        }
      }
      expect(run(null, gpc)).toEqual(gpc ? { gpc: '' } : {});
      expect(run('0.marketing', gpc).consent).toBeUndefined();
    }
  });

  it.each([
    ['the cookie is gone', null, false],
    ['the cookie is of an earlier version', '0.advertising', false],
    ['advertising is denied', '1.measurement', false],
    ['advertising is allowed', '1.advertising', false],
    ['Global Privacy Control is on', '1.measurement.advertising', true],
  ])('marks the page in a second run as in the first when %s', (_what, value, gpc) => {
    const other = run('1.measurement.marketing.advertising.gpc', !gpc);
    expect(run(value, gpc, other)).toEqual(run(value, gpc));
  });
});
