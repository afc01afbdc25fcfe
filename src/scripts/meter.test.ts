// @vitest-environment jsdom
import { atom } from 'nanostores';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MeterView } from '../stores/meter.ts';

const meter = vi.hoisted(() => ({
  $meter: null as unknown as import('nanostores').WritableAtom<MeterView>,
  readMetered: vi.fn(),
}));
vi.mock('../stores/meter.ts', () => meter);

const wall = () => document.querySelector('.meter-wall') as HTMLElement;
const place = () => wall().querySelector('[data-offer]') as HTMLElement;
const fetched = vi.fn<(address: string) => Promise<Response>>();

async function open(): Promise<void> {
  vi.resetModules();
  meter.$meter = atom<MeterView>({ ask: 'nothing', remaining: null });
  document.body.innerHTML = `<aside class="meter-wall" data-meter-wall="7" data-days="30" data-total="3" hidden>
    <p data-ask="registration">Create an account</p><p data-ask="subscription">Join</p>
    <div data-offer="/fragments/wall-offer"></div></aside>`;
  await import('./meter.ts');
}
const ask = (what: MeterView['ask']) => meter.$meter.set({ ask: what, remaining: 0 });

beforeEach(() => {
  fetched.mockReset().mockImplementation(async () => new Response('<div><p>$12 /month</p></div>'));
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = '';
});

describe('the wall over a metered story', () => {
  it('stays hidden and fetches nothing while the meter asks for nothing', async () => {
    await open();
    expect(meter.readMetered).toHaveBeenCalledWith(7, '/', { days: 30, anonymous: 3 });
    expect(wall().hidden).toBe(true);
    expect(fetched).not.toHaveBeenCalled();
  });

  it('opens with the price of a subscription, fetched once', async () => {
    await open();
    ask('registration');
    expect(wall().hidden).toBe(true);
    await vi.waitFor(() => expect(wall().hidden).toBe(false));
    expect(place().textContent).toBe('$12 /month');
    ask('subscription');
    await vi.waitFor(() => expect(wall().querySelector<HTMLElement>('[data-ask="registration"]')?.hidden).toBe(true));
    expect(fetched.mock.calls.map(([address]) => address)).toEqual(['/fragments/wall-offer']);
  });

  it.each([
    ['when the server fails', async () => new Response('<p>nothing</p>', { status: 503 })],
    ['when the server cannot be reached', async () => Promise.reject(new TypeError('offline'))],
  ])('still opens, but without an offer %s', async (_, answer) => {
    fetched.mockImplementation(answer);
    await open();
    ask('registration');
    await vi.waitFor(() => expect(wall().hidden).toBe(false));
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
    expect(wall().hidden).toBe(true);
  });
});
