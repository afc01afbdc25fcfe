// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const src = 'https://vendor.example/sdk.js';
const tags = () => [...document.querySelectorAll<HTMLScriptElement>(`script[src="${src}"]`)];
const happens = (event: 'load' | 'error') => tags().at(-1)?.dispatchEvent(new Event(event));

let loadScriptOnce: typeof import('./load-script.ts').loadScriptOnce;
beforeEach(async () => {
  vi.resetModules();
  ({ loadScriptOnce } = await import('./load-script.ts'));
});
afterEach(() => {
  vi.useRealTimers();
  for (const tag of tags()) tag.remove();
});

describe('loadScriptOnce', () => {
  it('adds one tag with its attributes for several calls', async () => {
    const first = loadScriptOnce(src, { attributes: { 'data-id': '7' } });
    const second = loadScriptOnce(src);
    expect(tags()).toHaveLength(1);
    expect(tags()[0]?.dataset.id).toBe('7');
    happens('load');
    expect(await first).toEqual({ ok: true });
    expect(await second).toEqual({ ok: true });
    expect(await loadScriptOnce(src)).toEqual({ ok: true });
    expect(tags()).toHaveLength(1);
  });

  it('reports a blocked script, and tries again on the next call', async () => {
    const blocked = loadScriptOnce(src);
    happens('error');
    expect(await blocked).toEqual({ ok: false, why: 'failed' });
    expect(tags()).toHaveLength(0);
    const again = loadScriptOnce(src);
    happens('load');
    expect(await again).toEqual({ ok: true });
  });

  it('gives up a script after its timeout, and removes its tag', async () => {
    vi.useFakeTimers();
    const slow = loadScriptOnce(src, { timeout: 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(await slow).toEqual({ ok: false, why: 'timeout' });
    expect(tags()).toHaveLength(0);
  });
});
