// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const form = `
  <form data-privacy method="post" action="/privacy-choices/save">
    <button name="choice" value="all">Accept all</button>
  </form>
  <main id="main" tabindex="-1"></main>`;
const chosen = () => /privacy-choices=([^;]*)/.exec(document.cookie)?.[1];
const press = () => {
  const [target, button] = [document.querySelector('form'), document.querySelector('button')];
  if (!target || !button) throw new Error('There is no form.');
  return { form: target, button };
};
const write = (value: string) => {
  // biome-ignore lint/suspicious/noDocumentCookie: as the server's answer does
  document.cookie = `privacy-choices=${value}; Path=/`;
};

beforeEach(() => {
  vi.resetModules();
  document.body.innerHTML = form;
});
afterEach(() => {
  vi.unstubAllGlobals();
  // biome-ignore lint/suspicious/noDocumentCookie: a test's own cookie
  document.cookie = 'privacy-choices=; Path=/; Max-Age=0';
  delete document.documentElement.dataset.consent;
});

it('a privacy choice applies at once and is sent to the server', async () => {
  const asked = vi.fn(async (_address: string, _request: RequestInit) => new Response());
  vi.stubGlobal('fetch', asked);
  const { applyChoice } = await import('./third-parties-page.ts');
  const { form, button } = press();
  applyChoice(form, button);
  expect(chosen()).toBe('1.measurement.marketing.advertising');
  expect(document.activeElement).toBe(document.getElementById('main'));
  expect(String(asked.mock.lastCall?.[1].body)).toBe('choice=all');
});

it('a Global Privacy Control signal that only the server receives revokes consent to advertising', async () => {
  const { $consent } = await import('../stores/consent.ts');
  const heard: string[] = [];
  const stop = $consent.subscribe(({ measurement, advertising }) => heard.push(`${measurement} ${advertising}`));
  vi.stubGlobal('fetch', async () => {
    write('1.measurement.gpc');
    return new Response();
  });
  const { applyChoice } = await import('./third-parties-page.ts');
  const { form, button } = press();
  applyChoice(form, button);
  await vi.waitFor(() => expect($consent.get()).toMatchObject({ measurement: true, advertising: false }));
  expect(heard.at(-1)).toBe('true false');
  expect(document.documentElement.dataset.consent).toBe('measurement');
  stop();
});
