// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recogniseFromAddress, repairOnce } from './session-client.ts';
import { forgetRepair } from './storage.ts';

let recognised: unknown[] = [];
let repaired = 0;
const server = setupServer(
  http.post('*/zephr/recognise-me', async ({ request }) => {
    recognised.push(await request.json());
    return HttpResponse.json({});
  }),
  http.get('*/api/v1/me/repair', () => {
    repaired++;
    return HttpResponse.json({ message: 'broken' }, { status: 500 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
beforeEach(() => {
  recognised = [];
  repaired = 0;
  localStorage.clear();
});
afterEach(() => {
  history.replaceState(null, '', '/');
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

describe('recogniseFromAddress', () => {
  it('passes the address on once, and takes it out of the address bar and nothing else', async () => {
    history.replaceState({ kept: true }, '', '/article/a?utm_source=mail&recognized_email=a%2Bb%40example.com#top');
    const asking = recogniseFromAddress();
    expect(location.href).toBe(`${location.origin}/article/a?utm_source=mail#top`);
    expect(history.state).toEqual({ kept: true });
    expect(await asking).toBe(true);
    expect(await recogniseFromAddress()).toBe(false);
    expect(recognised).toEqual([{ identifiers: { email_address: 'a+b@example.com' } }]);
  });

  it('asks nothing for what is no address', async () => {
    history.replaceState(null, '', '/?recognized_email=');
    expect(await recogniseFromAddress()).toBe(false);
    expect(location.search).toBe('');
    expect(recognised).toEqual([]);
  });
});

describe('repairOnce', () => {
  const calls = (count: number) => vi.waitFor(() => expect(repaired).toBe(count));

  it('calls once for many pages, and again after half a day or another sign-in', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    repairOnce();
    repairOnce();
    await calls(1);
    vi.setSystemTime(Date.now() + 12 * 60 * 60 * 1000);
    repairOnce();
    await calls(2);
    forgetRepair();
    repairOnce();
    await calls(3);
  });

  it('calls where storage is blocked', async () => {
    vi.stubGlobal('localStorage', undefined);
    repairOnce();
    forgetRepair();
    await calls(1);
  });
});
