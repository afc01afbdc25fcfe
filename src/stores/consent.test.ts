// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const load = async () => {
  vi.resetModules();
  return import('./consent.ts');
};
const forget = () => {
  // biome-ignore lint/suspicious/noDocumentCookie: a test's own cookie
  document.cookie = 'privacy-choices=; Path=/; Max-Age=0';
  delete document.documentElement.dataset.consent;
  Reflect.deleteProperty(navigator, 'globalPrivacyControl');
};
beforeEach(forget);
afterEach(forget);

describe('$consent', () => {
  it('allows nothing before a choice, follows each choice, and notifies its listeners', async () => {
    const { $consent, chooseConsent } = await load();
    const heard: boolean[] = [];
    const stop = $consent.subscribe(({ advertising }) => heard.push(advertising));
    chooseConsent(['advertising', 'measurement']);
    expect($consent.get()).toMatchObject({ status: 'chosen', advertising: true, measurement: true, marketing: false });
    expect(document.documentElement.dataset.consent).toBe('measurement advertising');
    chooseConsent([]);
    expect($consent.get()).toMatchObject({ status: 'chosen', advertising: false, measurement: false });
    expect(heard).toEqual([false, true, false]);
    stop();
  });

  it('is remembered by the browser', async () => {
    (await load()).chooseConsent(['marketing']);
    const { $consent } = await load();
    expect($consent.get()).toMatchObject({ status: 'chosen', marketing: true });
  });

  it('lets Global Privacy Control override an earlier choice, but not a later one', async () => {
    (await load()).chooseConsent(['measurement', 'marketing', 'advertising']);
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true, configurable: true });
    const { $consent, chooseConsent } = await load();
    expect($consent.get()).toMatchObject({ gpc: true, measurement: true, marketing: false, advertising: false });
    const stop = $consent.listen(() => {});
    chooseConsent(['advertising']);
    expect($consent.get()).toMatchObject({ measurement: false, advertising: true });
    stop();
  });

  it('follows a choice in another tab', async () => {
    const [here, there] = [await load(), await load()];
    const stops = [here.$consent.listen(() => {}), there.$consent.listen(() => {})];
    here.chooseConsent(['measurement']);
    await vi.waitFor(() => expect(there.$consent.get().measurement).toBe(true));
    for (const stop of stops) stop();
  });
});
