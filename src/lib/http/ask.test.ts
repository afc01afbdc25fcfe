// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from './ask.ts';

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  server.resetHandlers();
  vi.useRealTimers();
});
afterAll(() => server.close());

const answers = (response: () => Response) => server.use(http.all('*/call', response));

describe('ask', () => {
  it('reads a successful response as JSON', async () => {
    answers(() => HttpResponse.json({ fine: true }, { status: 201 }));
    expect(await ask('/call')).toEqual({ ok: true, status: 201, value: { fine: true } });
  });

  it('returns null for a successful response without a body', async () => {
    answers(() => new HttpResponse(null, { status: 204 }));
    expect(await ask('/call')).toEqual({ ok: true, status: 204, value: null });
  });

  it('sends a body as JSON, by POST unless another method is given, and uses GET without a body', async () => {
    const seen: [string, string | null, string][] = [];
    server.use(
      http.all('*/call', async ({ request }) => {
        seen.push([request.method, request.headers.get('content-type'), await request.text()]);
        return HttpResponse.json({});
      }),
    );
    await ask('/call', { body: { email: 'a@example.com' } });
    await ask('/call');
    await ask('/call', { method: 'PUT', body: null });
    expect(seen).toEqual([
      ['POST', 'application/json', '{"email":"a@example.com"}'],
      ['GET', null, ''],
      ['PUT', 'application/json', 'null'],
    ]);
  });

  it('returns no message for a 401 response that is an HTML page', async () => {
    answers(() => HttpResponse.html('<title>Email verification is required</title>', { status: 401 }));
    expect(await ask('/call')).toEqual({
      ok: false,
      status: 401,
      message: null,
      retryAfter: null,
      suggestedEmail: null,
    });
  });

  it.each([['null'], ['"text"'], ['[1]'], ['{"message":7}'], ['{"message":""}'], ['{"message":']])(
    'returns no message for the error body %s',
    async (body) => {
      answers(() => new HttpResponse(body, { status: 400 }));
      expect(await ask('/call')).toMatchObject({ ok: false, status: 400, message: null });
    },
  );

  it('ignores an error message of more than 300 characters', async () => {
    answers(() => HttpResponse.json({ message: 'x'.repeat(301) }, { status: 500 }));
    expect(await ask('/call')).toMatchObject({ message: null });
  });

  it('passes on the server’s message and its suggested email address', async () => {
    answers(() => HttpResponse.json({ message: 'Did you mean?', suggestedEmail: 'a@gmail.com' }, { status: 400 }));
    expect(await ask('/call')).toMatchObject({ message: 'Did you mean?', suggestedEmail: 'a@gmail.com' });
  });

  it('reads Retry-After in seconds and as a date', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-20T12:00:00Z') });
    answers(() => new HttpResponse(null, { status: 429, headers: { 'retry-after': '90' } }));
    expect(await ask('/call')).toMatchObject({ retryAfter: 90 });
    answers(() => new HttpResponse(null, { status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:01:00 GMT' } }));
    expect(await ask('/call')).toMatchObject({ retryAfter: 60 });
    answers(() => new HttpResponse(null, { status: 503, headers: { 'retry-after': 'later' } }));
    expect(await ask('/call')).toMatchObject({ retryAfter: null });
  });

  it('returns status 0 instead of throwing when the network fails', async () => {
    answers(() => HttpResponse.error());
    expect(await ask('/call')).toMatchObject({ ok: false, status: 0, message: null });
  });

  it('gives up with status 0 after its timeout', async () => {
    let late = () => {};
    server.use(
      http.all('*/call', async () => {
        await new Promise<void>((resolve) => {
          late = resolve;
        });
        return HttpResponse.json({});
      }),
    );
    expect(await ask('/call', { timeoutMs: 20 })).toMatchObject({ ok: false, status: 0 });
    late();
  });
});
