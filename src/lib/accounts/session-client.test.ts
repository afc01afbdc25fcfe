// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recognizeFromAddress, repairOnce } from './session-client.ts';
import { forgetRepair } from './storage.ts';

let recognized: unknown[] = [];
let repaired = 0;
const server = setupServer(
  http.post('*/zephr/recognise-me', async ({ request }) => {
    recognized.push(await request.json());
    return HttpResponse.json({});
  }),
  http.get('*/api/v1/me/repair', () => {
    repaired++;
    return HttpResponse.json({ message: 'broken' }, { status: 500 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
beforeEach(() => {
  recognized = [];
  repaired = 0;
  localStorage.clear();
});
afterEach(() => {
  history.replaceState(null, '', '/');
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

describe('recognizeFromAddress', () => {
  it('sends the address to the server once, and removes only it from the address bar', async () => {
    history.replaceState({ kept: true }, '', '/article/a?utm_source=mail&recognized_email=a%2Bb%40example.com#top');
    const asking = recognizeFromAddress();
    expect(location.href).toBe(`${location.origin}/article/a?utm_source=mail#top`);
    expect(history.state).toEqual({ kept: true });
    expect(await asking).toBe(true);
    expect(await recognizeFromAddress()).toBe(false);
    expect(recognized).toEqual([{ identifiers: { email_address: 'a+b@example.com' } }]);
  });

  it('sends no request for an empty address', async () => {
    history.replaceState(null, '', '/?recognized_email=');
    expect(await recognizeFromAddress()).toBe(false);
    expect(location.search).toBe('');
    expect(recognized).toEqual([]);
  });
});

describe('repairOnce', () => {
  const calls = (count: number) => vi.waitFor(() => expect(repaired).toBe(count));

  it('sends one request for several pages, and another after twelve hours or a new sign-in', async () => {
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

  it('sends its request even when storage is blocked', async () => {
    vi.stubGlobal('localStorage', undefined);
    repairOnce();
    forgetRepair();
    await calls(1);
  });
});
