// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { click, type Drawn, draw, field, submit } from '../shared/testing.tsx';
import MailChoices from './MailChoices.island.tsx';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
let drawn: Drawn;
const form = () => drawn.host.querySelector('form') as HTMLFormElement;
const status = () => drawn.host.querySelector('[role="status"]')?.textContent;
const alerts = () =>
  [...drawn.host.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).filter(Boolean);

beforeEach(async () => {
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
  drawn = await draw(
    <MailChoices
      letters={[
        { slug: 'morning', name: 'Morning Sun', when: 'Early', description: 'News.' },
        { slug: 'evening', name: 'Evening Sun', when: 'Late', description: 'The best.' },
      ]}
      others={[{ slug: 'offers', name: 'Offers', description: 'Prices.' }]}
      chosen={['morning']}
    />,
  );
});
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

it('the mail choices are a plain form; required mail cannot be turned off, and the form says why', async () => {
  expect([form().getAttribute('action'), form().method]).toEqual(['/account/mail', 'post']);
  expect([...new FormData(form())]).toEqual([['choice', 'morning']]);
  const due = field('Receipts and renewal notices');
  expect([due.checked, due.disabled]).toEqual([true, true]);
  expect(document.getElementById(due.getAttribute('aria-describedby') ?? '')?.textContent).toMatch(
    /before a subscription renews.*The law requires it, so you can’t turn it off\./,
  );
});

it('the mail choices are saved in place on submit, and not before', async () => {
  await click(field('Morning Sun'));
  await click(field('Offers'));
  expect(status()).toBe('Not saved yet.');
  fetched.mockImplementation(async () => Response.json({ choices: ['offers'] }));
  await submit(form());
  await vi.waitFor(() => expect(status()).toBe('Your choices are saved.'));
  const [path, init] = fetched.mock.calls[0] ?? [];
  expect([path, init?.method, JSON.parse(String(init?.body))]).toEqual([
    ...['/api/v1/me/newsletters', 'PUT', { choices: ['offers'] }],
  ]);
  expect([field('Morning Sun').checked, field('Offers').checked]).toEqual([false, true]);
});

it.each([
  [0, /couldn’t reach the server/],
  [401, /signed out/],
  [503, /couldn’t save your choices/],
] as const)('a ticked box stays ticked when it cannot be saved (%s)', async (code, words) => {
  await click(field('Evening Sun'));
  fetched.mockImplementation(async () => {
    if (code === 0) throw new TypeError('offline');
    return Response.json({ message: 'stack' }, { status: code });
  });
  await submit(form());
  await vi.waitFor(() => expect(alerts().join()).toMatch(words));
  expect([field('Evening Sun').checked, status()]).toEqual([true, 'Not saved yet.']);
});

it('a message says that the browser is offline, and goes away when it is back online', async () => {
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  await act(async () => void dispatchEvent(new Event('offline')));
  expect(status()).toMatch(/^You’re offline/);
  vi.mocked(vi.spyOn(navigator, 'onLine', 'get')).mockReturnValue(true);
  await act(async () => void dispatchEvent(new Event('online')));
  expect(status()).toBe('');
  vi.restoreAllMocks();
});

it('a box ticked while the others are being saved still counts as not saved', async () => {
  const gate = Promise.withResolvers<Response>();
  fetched.mockReturnValue(gate.promise);
  await submit(form());
  await click(field('Offers'));
  await act(async () => gate.resolve(Response.json({ choices: ['morning'] })));
  await vi.waitFor(() => expect(status()).toBe('Not saved yet.'));
});
