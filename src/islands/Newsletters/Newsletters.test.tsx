// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { VerificationAnswer } from '../../lib/accounts/schema.ts';
import type { Granted } from '../../lib/http/ask.ts';
import { button, click, type Drawn, draw, field, submit, type } from '../shared/testing.tsx';
import Newsletters, { createNewsletterFlow, type NewsletterCalls } from './Newsletters.island.tsx';

vi.mock('../../stores/session.ts', async () => {
  const [{ atom }, { anonymousSession }] = [await import('nanostores'), await import('../../lib/accounts/session.ts')];
  return { $session: atom(anonymousSession), refreshSession: async () => {} };
});

const verified: Granted<VerificationAnswer> = {
  ok: true,
  status: 200,
  value: { verified: true, suggestedEmail: null, message: '' },
};
const refuses = (status: number, message: string | null = null) =>
  ({ ok: false, status, message, retryAfter: null, suggestedEmail: null }) as const;
const created = { ok: true, status: 200, value: { sessionId: 'one' } } as const;

const calls = (createUser: NewsletterCalls['createUser']): NewsletterCalls => ({
  verifyEmail: async () => verified,
  createUser,
});

describe('signing up for newsletters', () => {
  it('creates an account with the trimmed address and ends at the last step', async () => {
    const createUser = vi.fn<NewsletterCalls['createUser']>(async () => created);
    const flow = createNewsletterFlow(calls(createUser));
    await flow.submit(' ada@example.com ');
    expect(createUser).toHaveBeenCalledExactlyOnceWith('ada@example.com');
    expect(flow.$state.get()).toMatchObject({ step: 'done', busy: false, error: null });
  });

  it.each([
    ['shows the server’s message', refuses(400, 'This address cannot be used.'), 'This address cannot be used.'],
    ['shows its own message when the server sends none', refuses(500), 'Failed to create user'],
    ['shows the server’s message about a limit', refuses(429, 'Please wait an hour.'), 'Please wait an hour.'],
  ])('%s', async (_what, answer, words) => {
    const flow = createNewsletterFlow(calls(async () => answer));
    await flow.submit('ada@example.com');
    expect(flow.$state.get()).toEqual({ step: 'email', email: 'ada@example.com', busy: false, error: words });
  });

  it('keeps the typed address when the server cannot be reached, and sends one request for two submits', async () => {
    const createUser = vi.fn<NewsletterCalls['createUser']>(async () => refuses(0));
    const flow = createNewsletterFlow(calls(createUser));
    await Promise.all([flow.submit('ada@example.com'), flow.submit('ada@example.com')]);
    expect(createUser).toHaveBeenCalledOnce();
    expect(flow.$state.get()).toMatchObject({
      email: 'ada@example.com',
      error: expect.stringMatching(/reach the server/),
    });
  });
});

describe('the newsletter form', () => {
  let drawn: Drawn;
  afterEach(async () => {
    await drawn.remove();
    vi.unstubAllGlobals();
  });

  it('is a plain form that works without a script', async () => {
    drawn = await draw(<Newsletters shape="bar" returnTo="/section/culture" providers={['google']} />);
    const form = drawn.host.querySelector('form') as HTMLFormElement;
    expect(form.getAttribute('method')).toBe('post');
    expect(form.getAttribute('action')).toBe('/account/newsletter');
    expect(new FormData(form).get('return')).toBe('/section/culture');
    expect(drawn.host.querySelector('a')?.getAttribute('href')).toBe(
      '/blaize/oauth/google?return=%2Fsection%2Fculture',
    );
  });

  it('replaces an earlier error by the outcome of the provider’s sign-in window', async () => {
    const popup = { closed: false, focus() {}, close() {} };
    vi.stubGlobal('open', () => popup);
    drawn = await draw(<Newsletters shape="bar" returnTo="/" providers={['google']} />);
    await submit(button('Subscribe').form as HTMLFormElement);
    const alert = () => drawn.host.querySelector('[role=alert]')?.textContent;
    expect(alert()).toBe('Please enter your email address.');
    await click(drawn.host.querySelector('a') as HTMLElement);
    popup.closed = true;
    await vi.waitFor(() => expect(alert()).toMatch(/^The window was closed/));
  });

  it('thanks the reader in the words of the spec, with links to three webmail services', async () => {
    const fetched = vi.fn(async (path: string) =>
      Response.json(path === '/api/verification' ? verified.value : { sessionId: 'one' }),
    );
    vi.stubGlobal('fetch', fetched);
    drawn = await draw(<Newsletters shape="bar" returnTo="/" />);
    await type(field('Email address'), 'ada@example.com');
    await submit(button('Subscribe').form as HTMLFormElement);
    await vi.waitFor(() => expect(drawn.host.textContent).toContain('Thank you for subscribing to The Sun'));
    expect(drawn.host.textContent).toContain('Please check your inbox for a one-click verification link');
    expect([...drawn.host.querySelectorAll('a')].map((link) => new URL(link.href).hostname)).toEqual([
      'mail.google.com',
      'outlook.live.com',
      'mail.yahoo.com',
    ]);
    expect(fetched.mock.calls.map(([path]) => path)).toEqual(['/api/verification', '/api/zephr-create']);
  });
});
