import { describe, expect, it, vi } from 'vitest';
import { type Consent, consentValue, type OptionalPurpose, readConsent } from '../consent/model.ts';
import type { Adapter } from './model.ts';
import { runThirdParties, type Startable } from './run.ts';

const consent = (...granted: OptionalPurpose[]): Consent =>
  readConsent(`privacy-choices=${consentValue(granted, false)}`, false);

function party(name: Startable['name'], purpose: OptionalPurpose, more: Partial<Adapter> = {}) {
  const adapter = { allow: vi.fn(), withdraw: vi.fn(), visitor: vi.fn(), route: vi.fn(), ...more };
  const load = vi.fn(async (): Promise<Adapter> => adapter);
  const forget = vi.fn();
  const granted = (now: Consent) => now[purpose];
  const startable: Startable = { name, allowed: granted, remembers: granted, load, forget };
  return { adapter, load, forget, startable };
}
const settled = () => new Promise((done) => setTimeout(done));

function setUp(...parties: ReturnType<typeof party>[]) {
  const idle: (() => void)[] = [];
  const report = vi.fn();
  const running = runThirdParties(
    parties.map(({ startable }) => startable),
    (action) => void idle.push(action),
    report,
  );
  return { running, report, quiet: () => idle.splice(0).forEach((action) => void action()) };
}

describe('runThirdParties', () => {
  it('loads a vendor once, when consent is given and the browser is idle', async () => {
    const tags = party('tagManager', 'measurement');
    const ads = party('ads', 'advertising');
    const { running, quiet } = setUp(tags, ads);
    running.consent(consent());
    running.visitor('anonymous');
    quiet();
    expect(tags.load).not.toHaveBeenCalled();
    running.consent(consent('measurement'));
    running.consent(consent('measurement'));
    expect(tags.load).not.toHaveBeenCalled();
    quiet();
    await settled();
    expect(tags.load).toHaveBeenCalledOnce();
    expect(ads.load).not.toHaveBeenCalled();
    expect(tags.adapter.allow).toHaveBeenCalledOnce();
    expect(tags.adapter.visitor).toHaveBeenCalledExactlyOnceWith('anonymous');
    running.route();
    expect(tags.adapter.route).toHaveBeenCalledOnce();
  });

  it('does not start a vendor whose consent was withdrawn before the browser was idle', async () => {
    const tags = party('tagManager', 'measurement');
    const { running, quiet } = setUp(tags);
    running.consent(consent('measurement'));
    running.consent(consent());
    quiet();
    expect(tags.load).not.toHaveBeenCalled();
    running.consent(consent('measurement'));
    quiet();
    await settled();
    expect(tags.adapter.allow).toHaveBeenCalledOnce();
  });

  it('withdraws a vendor once, deletes its data, and sends it nothing until consent is given again', async () => {
    const tags = party('tagManager', 'measurement');
    const { running, quiet } = setUp(tags);
    running.consent(consent('measurement'));
    quiet();
    await settled();
    expect(tags.forget).not.toHaveBeenCalled();
    running.consent(consent());
    running.consent(consent());
    running.visitor('reader');
    running.route();
    expect(tags.adapter.withdraw).toHaveBeenCalledOnce();
    expect(tags.forget).toHaveBeenCalled();
    expect(tags.adapter.visitor).not.toHaveBeenCalled();
    expect(tags.adapter.route).not.toHaveBeenCalled();
    running.consent(consent('measurement'));
    expect(tags.load).toHaveBeenCalledOnce();
    expect(tags.adapter.visitor).toHaveBeenCalledExactlyOnceWith('reader');
  });

  it('deletes a vendor’s data again if its script was still loading at withdrawal', async () => {
    const loaded = Promise.withResolvers<void>();
    const tags = party('tagManager', 'measurement', { allow: () => loaded.promise });
    const { running, quiet } = setUp(tags);
    running.consent(consent('measurement'));
    quiet();
    await settled();
    running.consent(consent());
    expect(tags.forget).toHaveBeenCalledOnce();
    loaded.resolve();
    await settled();
    expect(tags.forget).toHaveBeenCalledTimes(2);
  });

  it('deletes data stored by consent if a vendor, such as limited ads, continues without it', async () => {
    const ads = party('ads', 'advertising');
    const { running, quiet } = setUp({ ...ads, startable: { ...ads.startable, allowed: () => true } });
    running.consent(consent('advertising'));
    quiet();
    await settled();
    expect(ads.forget).not.toHaveBeenCalled();
    running.consent(consent());
    expect(ads.forget).toHaveBeenCalledOnce();
    expect(ads.adapter.withdraw).not.toHaveBeenCalled();
    expect(ads.adapter.allow).toHaveBeenLastCalledWith(consent());
  });

  it('reports a failing vendor without affecting others, and tries to load it again later', async () => {
    const broken = party('tagManager', 'measurement', { allow: () => Promise.reject(new Error('a')) });
    const throwing = party('audience', 'measurement', {
      allow() {
        throw new Error('b');
      },
    });
    const missing = party('referral', 'measurement');
    missing.load.mockRejectedValue(new Error('c'));
    const sound = party('webPush', 'measurement');
    const { running, quiet, report } = setUp(broken, throwing, missing, sound);
    running.consent(consent('measurement'));
    quiet();
    await settled();
    expect(report.mock.calls.map(([name]) => name).toSorted()).toEqual(['audience', 'referral', 'tagManager']);
    expect(sound.adapter.allow).toHaveBeenCalledOnce();
    // A script that couldn't be loaded is fetched again at the next choice.
    missing.load.mockResolvedValue(missing.adapter);
    running.consent(consent('measurement', 'marketing'));
    quiet();
    await settled();
    expect(missing.adapter.allow).toHaveBeenCalledOnce();
  });
});
