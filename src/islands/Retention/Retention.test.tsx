// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChurnAnswer } from '../../lib/billing/schema.ts';
import type { Reply } from '../../lib/http/ask.ts';
import { type Drawn, draw } from '../shared/testing.tsx';
import Retention, { openWidget } from './Retention.island.tsx';

describe('the cancellation page', () => {
  const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
  const settings = { appId: 'app', scriptUrl: 'https://widget.example/app.js', mode: 'test' } as const;
  let own: HTMLElement;
  let drawn: Drawn;

  beforeEach(() => {
    fetched.mockReset().mockImplementation(() => new Promise(() => {}));
    vi.stubGlobal('fetch', fetched);
    own = document.createElement('div');
    own.dataset.ownFlow = '';
    document.body.append(own);
  });
  afterEach(async () => {
    await drawn.remove();
    own.remove();
    vi.unstubAllGlobals();
  });

  it('holds our own form back while the Churnkey widget is being fetched', async () => {
    own.style.visibility = 'hidden';
    drawn = await draw(<Retention {...settings} email="ada@example.com" />);
    expect([own.dataset.held, own.dataset.open]).toEqual(['', undefined]);
    expect(fetched.mock.calls.map(([path]) => path)).toEqual(['/api/churnkey']);
  });

  it('leaves our own form in place if it has already appeared, and does not fetch the widget', async () => {
    drawn = await draw(<Retention {...settings} email="ada@example.com" />);
    expect([own.dataset.held, own.dataset.open]).toEqual([undefined, '']);
    expect(drawn.host.textContent).toBe('');
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe('the Churnkey widget', () => {
  const churnkey = { appId: 'app_1', scriptUrl: 'https://assets.churnkey.co/js/app.js', mode: 'test' } as const;
  const granted = (value: ChurnAnswer): Reply<ChurnAnswer> => ({ ok: true, status: 200, value });
  const refused = { ok: false, status: 502, message: null, retryAfter: null, suggestedEmail: null } as const;
  const churn = { hash: 'abc', customerId: 'cus_1', subscriptionId: 'sub_1' };

  let init: ReturnType<typeof vi.fn>;
  const host = window as { churnkey?: { created?: boolean; init?: unknown } };
  const calls = (over: Partial<Parameters<typeof openWidget>[2]> = {}) => ({
    hash: vi.fn(async () => granted(churn)),
    cancel: vi.fn(async (): Promise<Reply<unknown>> => ({ ok: true, status: 200, value: {} })),
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

  it('opens for the reader’s own customer and subscription', async () => {
    const made = calls();
    expect(await openWidget(churnkey, 'ada@example.com', made, ends())).toBe('opened');
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

  it('cancels through our server with the reader’s reason, and shows a message when that fails', async () => {
    const made = calls();
    const { onClose, onChange } = ends();
    await openWidget(churnkey, 'ada@example.com', made, { onClose, onChange });
    const options = init.mock.calls[0]?.[1] as Record<string, (...given: unknown[]) => unknown>;
    await expect(options.handleCancel?.({}, 'Budget', 'Too dear')).resolves.toMatchObject({ message: /cancelled/ });
    expect(made.cancel).toHaveBeenCalledExactlyOnceWith('Budget: Too dear', 'sub_1');
    expect(onChange).toHaveBeenCalledOnce();
    vi.mocked(made.cancel).mockResolvedValueOnce(refused);
    await expect(options.handleCancel?.({}, null, undefined)).rejects.toThrow(
      'Something went wrong. Please try again.',
    );
    expect(onChange).toHaveBeenCalledOnce();
    options.onClose?.({});
    expect(onClose).toHaveBeenCalledOnce();
  });

  it.each([
    ['hash', { ...churn, hash: null }],
    ['customer', { ...churn, customerId: null }],
  ])('is not opened without a %s, which is logged (spec section 8)', async (_what, answer) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const made = calls({ hash: async () => granted(answer) });
    expect(await openWidget(churnkey, 'ada@example.com', made, ends())).toBe('missing');
    expect(warn).toHaveBeenCalledExactlyOnceWith('User hash or customerId not set');
    expect(init).not.toHaveBeenCalled();
  });

  it.each([
    ['the script does not load', { load: async () => ({ ok: false, why: 'timeout' }) as const }],
    ['the script is not Churnkey’s', { load: async () => ({ ok: true }) as const }],
    ['the server refuses the hash', { hash: async () => refused }],
  ])('reports failure without throwing when %s', async (_where, over) => {
    expect(await openWidget(churnkey, 'ada@example.com', calls(over), ends())).toBe('failed');
    expect(init).not.toHaveBeenCalled();
  });

  it('reports failure without throwing when its script throws', async () => {
    init.mockImplementation(() => {
      throw new Error('torn');
    });
    expect(await openWidget(churnkey, 'ada@example.com', calls(), ends())).toBe('failed');
  });
});
