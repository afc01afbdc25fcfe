// @vitest-environment jsdom
import { atom } from 'nanostores';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MeterAsk } from '../stores/meter.ts';
import * as ui from '../stores/ui.ts';

const meter = vi.hoisted(() => ({
  $meter: null as unknown as import('nanostores').WritableAtom<MeterAsk>,
  readMetered: vi.fn(),
}));
vi.mock('../stores/meter.ts', () => meter);

const paywall = () => document.querySelector('.metered-paywall') as HTMLElement;
const place = () => paywall().querySelector('[data-offer]') as HTMLElement;
let { closePaywall, openPaywall } = ui;
const reload = vi.fn();
/** Watches of the page: a test's own must not see the changes of the next. */
const watches: MutationObserver[] = [];
class Watch extends MutationObserver {
  constructor(changed: MutationCallback) {
    super(changed);
    watches.push(this);
  }
}
const fetched = vi.fn<(address: string) => Promise<Response>>();

async function open(): Promise<void> {
  vi.resetModules();
  ({ closePaywall, openPaywall } = await import('../stores/ui.ts'));
  meter.$meter = atom<MeterAsk>('nothing');
  document.body.innerHTML = `<aside class="metered-paywall" data-metered="7" data-days="30" data-total="3"
    data-unmetered="reader member" hidden>
    <p data-ask="registration">Create an account</p><p data-ask="subscription">Join</p>
    <div data-offer="/fragments/paywall-offer"></div></aside>`;
  await import('./meter.ts');
}
const ask = (what: MeterAsk) => meter.$meter.set(what);
const covered = () => vi.waitFor(() => expect(paywall().hidden).toBe(false));
/** Observers run before the next task. */
async function becomes(visitor: string): Promise<void> {
  document.documentElement.dataset.visitor = visitor;
  await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => {
  fetched.mockReset().mockImplementation(async () => new Response('<div><p>$12 /month</p></div>'));
  vi.stubGlobal('fetch', fetched);
  reload.mockReset();
  vi.stubGlobal('MutationObserver', Watch);
  vi.stubGlobal('location', { pathname: '/', reload });
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = '';
  for (const watch of watches.splice(0)) watch.disconnect();
  delete document.documentElement.dataset.visitor;
});

describe('the paywall over a metered story', () => {
  it('stays hidden and fetches nothing while the meter asks for nothing', async () => {
    await open();
    expect(meter.readMetered).toHaveBeenCalledWith(7, '/', { days: 30, anonymous: 3 });
    expect(paywall().hidden).toBe(true);
    expect(fetched).not.toHaveBeenCalled();
  });

  it('opens with the price of a subscription, fetched once', async () => {
    await open();
    ask('registration');
    expect(paywall().hidden).toBe(true);
    await vi.waitFor(() => expect(paywall().hidden).toBe(false));
    expect(place().textContent).toBe('$12 /month');
    ask('subscription');
    await vi.waitFor(() =>
      expect(paywall().querySelector<HTMLElement>('[data-ask="registration"]')?.hidden).toBe(true),
    );
    expect(fetched.mock.calls.map(([address]) => address)).toEqual(['/fragments/paywall-offer']);
  });

  it.each([
    ['when the server fails', async () => new Response('<p>nothing</p>', { status: 503 })],
    ['when the server cannot be reached', async () => Promise.reject(new TypeError('offline'))],
  ])('still opens, but without an offer %s', async (_, answer) => {
    fetched.mockImplementation(answer);
    await open();
    ask('registration');
    await vi.waitFor(() => expect(paywall().hidden).toBe(false));
    expect(place().textContent).toBe('');
  });

  it('stays hidden when the reader signs in before the offer arrives', async () => {
    const gate = Promise.withResolvers<Response>();
    fetched.mockImplementation(() => gate.promise);
    await open();
    ask('registration');
    ask('nothing');
    gate.resolve(new Response('<p>$12 /month</p>'));
    await vi.waitFor(() => expect(place().textContent).toBe('$12 /month'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(paywall().hidden).toBe(true);
  });

  it.each(['registration', 'subscription'] as const)('goes when the reader becomes a subscriber: %s', async (what) => {
    await open();
    ask(what);
    await covered();
    await becomes('member');
    expect([paywall().hidden, reload.mock.calls.length]).toEqual([true, 0]);
  });

  it('stays hidden when the reader has paid before the meter answers', async () => {
    await open();
    await becomes('reader');
    ask('subscription');
    await vi.waitFor(() => expect(place().textContent).toBe('$12 /month'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(paywall().hidden).toBe(true);
  });

  it('counts the reading again after a sign-in, and stays for a reader whose account has none left', async () => {
    await open();
    ask('subscription');
    await covered();
    await becomes('registered');
    expect([paywall().hidden, reload.mock.calls.length]).toEqual([false, 0]);
    ask('registration');
    await becomes('registered');
    expect(reload).toHaveBeenCalledOnce();
  });

  it.each([
    ['goes', 'member', true, 0],
    ['counts the reading again', 'registered', false, 1],
  ])('%s once the paywall is closed in which the reader has signed in: %s', async (_, visitor, hidden, reloads) => {
    await open();
    ask('registration');
    await covered();
    openPaywall({});
    await becomes(visitor);
    expect([paywall().hidden, reload.mock.calls.length]).toEqual([false, 0]);
    closePaywall();
    expect([paywall().hidden, reload.mock.calls.length]).toEqual([hidden, reloads]);
  });
});
