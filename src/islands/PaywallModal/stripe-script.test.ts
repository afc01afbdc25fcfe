// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const src = 'https://js.stripe.example/stripe.js';
const tags = () => [...document.querySelectorAll<HTMLScriptElement>(`script[src="${src}"]`)];
const brings = (Stripe: unknown) => {
  Object.assign(window, { Stripe });
  tags().at(-1)?.dispatchEvent(new Event('load'));
};

let load: typeof import('./stripe-script.ts').loadStripe;
beforeEach(async () => {
  vi.resetModules();
  ({ loadStripe: load } = await import('./stripe-script.ts'));
});
afterEach(() => {
  vi.useRealTimers();
  for (const tag of tags()) tag.remove();
  Reflect.deleteProperty(window, 'Stripe');
});

describe('the card company’s script', () => {
  it('is asked for once, and makes one object for a key', async () => {
    const make = vi.fn((key: string) => ({ key }));
    const [first, second] = [load(src, 'pk_test_1'), load(src, 'pk_test_1')];
    expect(tags()).toHaveLength(1);
    brings(make);
    expect(await first).toBe(await second);
    expect(make).toHaveBeenCalledExactlyOnceWith('pk_test_1');
    expect(await load(src, 'pk_test_2')).toEqual({ key: 'pk_test_2' });
    expect(tags()).toHaveLength(1);
  });

  it('is fetched again after it failed', async () => {
    const first = load(src, 'pk_test_1');
    tags()[0]?.dispatchEvent(new Event('error'));
    await expect(first).rejects.toThrow('could not be loaded');
    expect(tags()).toHaveLength(0);
    const again = load(src, 'pk_test_1');
    expect(tags()).toHaveLength(1);
    brings((key: string) => ({ key }));
    expect(await again).toEqual({ key: 'pk_test_1' });
  });

  it('that brings nothing has failed', async () => {
    const first = load(src, 'pk_test_1');
    brings(undefined);
    await expect(first).rejects.toThrow('brought nothing');
  });

  it('that never comes is given up', async () => {
    vi.useFakeTimers();
    const first = load(src, 'pk_test_1');
    const end = expect(first).rejects.toThrow('takes too long');
    await vi.advanceTimersByTimeAsync(30_000);
    await end;
  });
});
