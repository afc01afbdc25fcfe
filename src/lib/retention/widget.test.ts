// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Answer } from '../http/ask.ts';
import { userHash } from './churnkey.server.ts';
import type { ChurnAnswer } from './widget.ts';
import { openWidget } from './widget.ts';

const settings = { appId: 'app_1', scriptUrl: 'https://assets.churnkey.co/js/app.js', mode: 'test' } as const;
const granted = (value: ChurnAnswer): Answer<ChurnAnswer> => ({ ok: true, status: 200, value });
const refused = { ok: false, status: 502, message: null, retryAfter: null, suggestedEmail: null } as const;
const churn = { hash: 'abc', customerId: 'cus_1', subscriptionId: 'sub_1' };

let init: ReturnType<typeof vi.fn>;
const host = window as { churnkey?: { created?: boolean; init?: unknown } };
const calls = (over: Partial<Parameters<typeof openWidget>[2]> = {}) => ({
  hash: vi.fn(async () => granted(churn)),
  cancel: vi.fn(async (): Promise<Answer<unknown>> => ({ ok: true, status: 200, value: {} })),
  load: vi.fn(async () => {
    host.churnkey = { ...host.churnkey, init };
    return { ok: true } as const;
  }),
  ...over,
});
const ends = () => ({ onClose: vi.fn(), onChange: vi.fn() });

beforeEach(() => {
  init = vi.fn();
});
afterEach(() => {
  delete host.churnkey;
  vi.restoreAllMocks();
});

it('signs a customer as the vendor says: hex HMAC-SHA256 under its key', () => {
  expect(userHash('key', 'cus_1')).toMatch(/^[0-9a-f]{64}$/);
  expect(userHash('key', 'cus_1')).not.toBe(userHash('key', 'cus_2'));
  expect(userHash('key', 'The quick brown fox jumps over the lazy dog')).toBe(
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  );
});

it('is opened for the reader’s own customer and subscription', async () => {
  const made = calls();
  expect(await openWidget(settings, 'ada@example.com', made, ends())).toBe('opened');
  expect(made.load).toHaveBeenCalledExactlyOnceWith('https://assets.churnkey.co/js/app.js?appId=app_1');
  expect(host.churnkey?.created).toBe(true);
  expect(init).toHaveBeenCalledExactlyOnceWith(
    'show',
    expect.objectContaining({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      authHash: 'abc',
      appId: 'app_1',
      mode: 'test',
      provider: 'stripe',
    }),
  );
});

it('cancels through us, with what was said, and says when that failed', async () => {
  const made = calls();
  const { onClose, onChange } = ends();
  await openWidget(settings, 'ada@example.com', made, { onClose, onChange });
  const options = init.mock.calls[0]?.[1] as Record<string, (...given: unknown[]) => unknown>;
  await expect(options.handleCancel?.({}, 'Budget', 'Too dear')).resolves.toMatchObject({ message: /cancelled/ });
  expect(made.cancel).toHaveBeenCalledExactlyOnceWith('Budget: Too dear');
  expect(onChange).toHaveBeenCalledOnce();
  vi.mocked(made.cancel).mockResolvedValueOnce(refused);
  await expect(options.handleCancel?.({}, null, undefined)).rejects.toThrow('Something went wrong. Please try again.');
  expect(onChange).toHaveBeenCalledOnce();
  options.onClose?.({});
  expect(onClose).toHaveBeenCalledOnce();
});

it.each([
  ['hash', { ...churn, hash: null }],
  ['customer', { ...churn, customerId: null }],
])('does nothing without a %s, and logs it (spec section 8)', async (_what, answer) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const made = calls({ hash: async () => granted(answer) });
  expect(await openWidget(settings, 'ada@example.com', made, ends())).toBe('missing');
  expect(warn).toHaveBeenCalledExactlyOnceWith('User hash or customerId not set');
  expect(init).not.toHaveBeenCalled();
});

it.each([
  ['the script does not come', { load: async () => ({ ok: false, why: 'timeout' }) as const }],
  ['the script is another', { load: async () => ({ ok: true }) as const }],
  ['there is no hash to be had', { hash: async () => refused }],
])('fails as a value where %s', async (_where, over) => {
  expect(await openWidget(settings, 'ada@example.com', calls(over), ends())).toBe('failed');
  expect(init).not.toHaveBeenCalled();
});

it('fails as a value where the script throws', async () => {
  init.mockImplementation(() => {
    throw new Error('torn');
  });
  expect(await openWidget(settings, 'ada@example.com', calls(), ends())).toBe('failed');
});
