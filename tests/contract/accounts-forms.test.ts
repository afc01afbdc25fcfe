/**
 * Signing in, signing out and signing up without JavaScript, and with Google and Facebook: forms posted as a browser posts them,
 * on the built site over HTTP, with the real account service and the sandbox's consent pages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountMessages } from '../../src/lib/accounts/messages.ts';
import { defaultLimits } from '../../src/lib/http/limits.ts';
import { type AccountSite, type Answer, type Browser, siteUrl, startAccountSite } from '../fixtures/account-site.ts';
import { formOf } from './fixtures/accounts.ts';

let site: AccountSite;
beforeAll(async () => {
  site = await startAccountSite({
    services: {
      emailVerification: {
        verify: async (email) =>
          email.endsWith('@gmial.com')
            ? { verified: false, suggestedEmail: email.replace('gmial', 'gmail'), message: '' }
            : { verified: !email.includes('throwaway'), suggestedEmail: null, message: 'Please use another address.' },
      },
    },
  });
});
afterAll(() => site.stop());

let count = 0;
const someone = (): string => `form-reader-${++count}@example.com`;
const who = async (browser: Browser): Promise<unknown> =>
  (await browser.get('/blaize/account')).json<{ identifiers?: { email_address: string } }>().identifiers?.email_address;
/** The location that a form redirects to, which must hold nothing personal. */
function led(answer: Answer): string {
  expect(answer.status).toBe(303);
  expect(answer.headers['cache-control']).toBe('private, no-store');
  expect(answer.headers.location).not.toMatch(/@|%40|example\.com/);
  return String(answer.headers.location);
}
const signIn = (browser: Browser, email: string, more = {}) => browser.submit('/account/sign-in', { email, ...more });

describe('signing in by link, without JavaScript', () => {
  it('creates an account, returns to the page, and signs in to the account later', async () => {
    const email = someone();
    const browser = site.browser();
    const page = await browser.get('/socialLogin?return=/article/story-1');
    expect(page.status).toBe(200);
    expect(page.text.includes('action="/account/sign-in"')).toBe(true);
    expect(formOf(page.text, /<form[^>]*sign-in[\s\S]*?<\/form>/)).toMatchObject({ return: '/article/story-1' });

    expect(led(await signIn(browser, email, { return: '/article/story-1' }))).toBe('/account/link-sent');
    const sent = await browser.get('/account/link-sent');
    expect(sent.headers['cache-control']).toBe('private, no-store');
    expect(sent.text.includes(email)).toBe(true);
    expect(led(await browser.submit('/account/resend', { method: 'link' }))).toBe('/account/link-sent?state=resent');
    expect((await browser.get('/account/link-sent?state=resent')).text.includes('Resent!')).toBe(true);

    const elsewhere = site.browser();
    const link = await elsewhere.get(`/blaize/token-exchange?token=${site.token(email)}`);
    expect(led(await elsewhere.submit('/account/link', formOf(link.text)))).toBe('/article/story-1');
    expect(await who(elsewhere)).toBe(email);
    expect(await who(browser)).toBeUndefined();

    expect(led(await signIn(browser, email.toUpperCase()))).toBe('/account/link-sent');
    expect(led(await browser.submit('/account/link', { token: site.token(email) }))).toBe('/');
    expect(await who(browser)).toBe(email);
  });

  it('explains why an address is rejected, and keeps it in the field', async () => {
    const browser = site.browser();
    for (const [email, words] of [
      ['nonsense', accountMessages.invalidEmail],
      ['ada@gmial.com', 'Did you mean ada@gmail.com?'],
      ['ada@throwaway.example', 'Please use another address.'],
    ] as const) {
      expect(led(await signIn(browser, email, { return: '/about' }))).toBe(
        '/socialLogin?return=%2Fabout&problem=email',
      );
      const { text } = await browser.get('/socialLogin?return=%2Fabout&problem=email');
      expect([text.includes(words), text.includes(`value="${email}"`)], email).toEqual([true, true]);
    }
    expect(led(await signIn(browser, ''))).toBe('/socialLogin?problem=email');
    // An error message disappears at the next visit.
    expect((await browser.get('/socialLogin')).text.includes('Did you mean')).toBe(false);
  });
});

describe('signing in by code, without JavaScript', () => {
  it('creates an account and signs in, even after a wrong code', async () => {
    const email = someone();
    const browser = site.browser();
    expect(led(await signIn(browser, email, { method: 'code', return: '/latest' }))).toBe('/account/enter-code');
    const code = site.code(email);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    expect(led(await browser.submit('/account/code', { code: wrong }))).toBe('/account/enter-code?problem=code');
    const page = await browser.get('/account/enter-code?problem=code');
    expect(page.text.includes('Invalid code. Please check the code and try again.')).toBe(true);
    // Six fields of one digit each.
    expect(led(await browser.submit('/account/code', { code: [...code] }))).toBe('/latest');
    expect(await who(browser)).toBe(email);
    expect([...browser.jar.keys()]).not.toContain('__Host-sign_in');

    expect(led(await browser.submit('/account/sign-out', {}))).toBe('/account/signed-out');
    expect(await who(browser)).toBeUndefined();
    await signIn(browser, email, { method: 'link' });
    expect(led(await browser.submit('/account/resend', { method: 'code' }))).toBe('/account/enter-code?state=resent');
    const again = site.code(email);
    expect(led(await browser.submit('/account/code', { code: `${again.slice(0, 3)} ${again.slice(3)}` }))).toBe('/');
    expect(await who(browser)).toBe(email);
  });

  it('emails a link instead if the account was created after the code was sent', async () => {
    const email = someone();
    const [browser, phone] = [site.browser(), site.browser()];
    await signIn(browser, email, { method: 'code', return: '/latest' });
    await phone.post('/api/zephr-create', { email, enter: true });
    expect(led(await browser.submit('/account/code', { code: site.code(email) }))).toBe('/account/link-sent');
    expect(led(await browser.submit('/account/link', { token: site.token(email) }))).toBe('/latest');
    expect(await who(browser)).toBe(email);
  });

  it('asks for the address again when the browser has no sign-in under way', async () => {
    const browser = site.browser();
    for (const path of ['/account/code', '/account/resend'])
      expect(led(await browser.submit(path, { code: '123456' }))).toBe('/socialLogin?problem=expired');
  });
});

describe('a signed-in reader with an unconfirmed address', () => {
  const confirm = { method: 'confirm', return: '/article/story-1#comments' };
  async function unconfirmed(): Promise<{ email: string; browser: Browser }> {
    const email = someone();
    const browser = site.browser();
    expect((await browser.post('/api/zephr-create', { email, enter: true })).status).toBe(200);
    return { email, browser };
  }

  it('can have the confirmation email sent again, and its link leads back to the page', async () => {
    const { email, browser } = await unconfirmed();
    const page = await browser.get('/account/confirm?return=/article/story-1%23comments');
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'private, no-store']);
    expect(page.text.includes(email)).toBe(true);
    const form = formOf(page.text, /<form[^>]*resend[\s\S]*?<\/form>/);
    expect(form).toMatchObject({ return: confirm.return });
    const before = site.token(email);
    expect(led(await browser.submit('/account/resend', { ...form, ...confirm }))).toBe('/account/link-sent');
    expect((await browser.get('/account/link-sent')).text.includes(email)).toBe(true);
    const token = site.token(email);
    expect(token).not.toBe(before);
    const again = site.browser();
    expect(led(await again.submit('/account/link', { token }))).toBe(confirm.return);
    // From here on the address is confirmed.
    expect(led(await again.submit('/account/resend', confirm))).toBe(confirm.return);
    expect((await again.get('/account/confirm?return=/about')).headers.location).toBe('/about');
    expect(site.token(email)).toBe(token);
  });

  it('cannot have the email sent to another address; a signed-out reader must sign in', async () => {
    const [mine, theirs] = [await unconfirmed(), await unconfirmed()];
    const before = site.token(theirs.email);
    await mine.browser.submit('/account/resend', { ...confirm, email: theirs.email });
    expect(site.token(theirs.email)).toBe(before);
    const signIn = `/socialLogin?return=${encodeURIComponent(confirm.return)}`;
    expect(led(await site.browser().submit('/account/resend', confirm))).toBe(signIn);
  });

  it('gets no more confirmation emails than the limit for sign-in links allows', async () => {
    const { email, browser } = await unconfirmed();
    const tokens = new Set<string>();
    for (let tries = 0; tries < 10; tries++) {
      await browser.submit('/account/resend', confirm);
      tokens.add(site.token(email));
    }
    expect(tokens.size).toBe(defaultLimits.link.email?.most);
  });

  it('is offered the confirmation email where comments are written', async () => {
    const { email, browser } = await unconfirmed();
    const refused = await browser.post('/api/v1/comments', {
      articleId: 1,
      content: 'Words.',
      name: 'Ada Lovelace',
      draft: 'draft-of-a-reader',
    });
    expect([refused.status, refused.json()]).toEqual([403, expect.objectContaining({ code: 'unconfirmed' })]);
    const page = await browser.get('/account/comment?article=1');
    expect(formOf(page.text, /<form[^>]*resend[\s\S]*?<\/form>/)).toMatchObject({
      return: '/article/story-1#comments',
    });
    expect(page.text.includes(email)).toBe(true);
  });
});

describe('the account pages', () => {
  it('redirect signed-out readers to sign-in, which redirects signed-in readers back', async () => {
    const browser = site.browser();
    for (const path of ['/dashboard/account', '/dashboard/profile', '/profile']) {
      const away = await browser.get(path);
      expect(led(away)).toBe(`/socialLogin?return=${encodeURIComponent(path)}`);
    }
    const email = someone();
    await browser.signIn(site, email);
    for (const path of ['/socialLogin?return=/latest', '/account/confirm?return=/latest']) {
      const back = await browser.get(path);
      expect([led(back), back.headers['cache-control']], path).toEqual(['/latest', 'private, no-store']);
    }
    for (const path of ['/dashboard/account', '/profile']) {
      const page = await browser.get(path);
      expect([page.status, page.headers['cache-control'], page.text.includes(email)]).toEqual([
        ...[200, 'private, no-store'],
        true,
      ]);
    }
    const away = await browser.get('/socialLogin?return=/latest');
    expect([away.status, away.headers.location]).toEqual([303, '/latest']);
    expect((await browser.get('/dashboard/nonsense')).status).toBe(404);
  });

  it('sign the reader out on this device only, if asked to', async () => {
    const email = someone();
    const [here, there] = [site.browser(), site.browser()];
    await here.signIn(site, email);
    await there.signIn(site, email, 'login');
    expect(led(await here.submit('/account/sign-out', { where: 'THIS_DEVICE' }))).toBe(
      '/account/signed-out?where=here',
    );
    expect([await who(here), await who(there)]).toEqual([undefined, email]);
    expect((await here.get('/account/signed-out?where=here')).status).toBe(200);
  });

  it('save the profile, and reject a wrong phone number', async () => {
    const browser = site.browser();
    await browser.signIn(site, someone());
    const form = { first_name: 'Ada', last_name: 'Whitlock', birthday: '', address: '1 Main St', return: '/profile' };
    expect(led(await browser.submit('/account/profile', { ...form, phone: '1 (212) 555-0183' }))).toBe(
      '/profile?state=saved',
    );
    const saved = (await browser.get('/blaize/profile')).json();
    expect(saved).toMatchObject({ first_name: 'Ada', 'phone-number': '12125550183' });
    expect((await browser.get('/profile?state=saved')).text.includes('value="Whitlock"')).toBe(true);
    expect(led(await browser.submit('/account/profile', { ...form, phone: '123' }))).toBe('/profile?problem=phone');
    expect((await browser.get('/profile?problem=phone')).text.includes('Invalid phone number')).toBe(true);
    expect(led(await site.browser().submit('/account/profile', form))).toBe('/socialLogin?return=%2Fprofile');
  });
});

describe('newsletter sign-ups', () => {
  it('are stored when the emailed link is used, on any device', async () => {
    const email = someone();
    const browser = site.browser();
    const form = { email, newsletter: ['evening', 'made-up'], return: '/newsletter' };
    expect(led(await browser.submit('/account/newsletter', form))).toBe('/account/link-sent?state=newsletter');
    const sent = await browser.get('/account/link-sent?state=newsletter');
    expect(sent.text.includes('Please check your inbox for a one-click verification link')).toBe(true);
    const phone = site.browser();
    expect(led(await phone.submit('/account/link', { token: site.token(email) }))).toBe(
      '/account/subscribed?letters=evening',
    );
    const choices = async () => (await phone.get('/api/v1/me/newsletters')).json();
    expect(await choices()).toEqual({ choices: ['evening'] });
    expect((await phone.get('/account/subscribed?letters=evening')).text.includes('Evening Sun')).toBe(true);

    // When signed in, there is nothing left to confirm.
    expect(led(await phone.submit('/account/newsletter', { ...form, newsletter: 'morning' }))).toBe(
      '/account/subscribed?letters=morning',
    );
    expect(await choices()).toEqual({ choices: ['morning', 'evening'] });
  });

  it('are named on the page of the link, which also signs in without them', async () => {
    const email = someone();
    await site.browser().submit('/account/newsletter', { email, newsletter: 'evening', return: '/newsletter' });
    const phone = site.browser();
    const token = site.token(email);
    const { text } = await phone.get(`/blaize/token-exchange?token=${token}`);
    expect(text).toMatch(/You’ll also receive <b[^>]*>Evening Sun<\/b>/);
    expect(text).toMatch(/name="without_newsletters"[^>]*>\s*Continue without newsletters/);
    expect(led(await phone.submit('/account/link', { token, without_newsletters: '1' }))).toBe('/');
    expect((await phone.get('/api/v1/me/newsletters')).json()).toEqual({ choices: [] });
  });

  it('are not saved by a script in a browser that requested another link', async () => {
    const email = someone();
    const browser = site.browser();
    await browser.submit('/account/sign-in', { email, method: 'link', return: '/' });
    await site.browser().submit('/account/newsletter', { email, newsletter: 'evening', return: '/newsletter' });
    const { text } = await browser.get(`/blaize/token-exchange?token=${site.token(email)}`);
    expect(text).not.toContain('data-press="now"');
  });

  it('sign up for nothing when every newsletter is unchecked', async () => {
    const email = someone();
    const away = await site.browser().submit('/account/newsletter', { email, newsletter: '', return: '/newsletter' });
    expect(led(away)).toBe('/newsletter?problem=choice');
    const page = await site.browser().get('/newsletter?problem=choice');
    expect(page.text).toContain('Please choose at least one newsletter.');
  });

  it('report a wrong address on their own page', async () => {
    const browser = site.browser();
    const away = await browser.submit('/account/newsletter', { email: 'nonsense', return: '/newsletter-signUp' });
    expect(led(away)).toBe('/newsletter-signUp?problem=email');
    const page = await browser.get('/newsletter-signUp?problem=email');
    expect(page.text.includes('Please enter a whole email address')).toBe(true);
    expect(page.text.includes('nonsense')).toBe(false);
  });

  it('are not changed by opening a link', async () => {
    const browser = site.browser();
    await browser.signIn(site, someone());
    await browser.get('/account/subscribed?letters=morning.evening');
    expect((await browser.get('/blaize/profile')).json()).toEqual({});
  });
});

/** Goes to a provider, decides there, and comes back. */
async function social(browser: Browser, address: string, choice: Record<string, string>): Promise<Answer> {
  const away = await browser.get(address);
  expect(away.status).toBe(302);
  const consent = await fetch(String(away.headers.location));
  const page = await consent.text();
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? '';
  const back = await fetch(new URL(action, consent.url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ticket: /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '', ...choice }),
  });
  const url = new URL(back.headers.get('location') ?? 'about:blank');
  expect(url.origin).toBe(siteUrl);
  return browser.get(url.pathname + url.search);
}
const yes = { decision: 'allow', share_email: 'on', email_verified: 'on' };
/** The data that the page posts to the window that opened it. */
const told = (page: Answer): Record<string, string> =>
  JSON.parse((/data-message="([^"]+)"/.exec(page.text)?.[1] ?? 'null').replace(/&quot;|&#34;/g, '"'));

describe.each(['google', 'facebook'])('signing in with %s', (provider) => {
  it('creates an account with the popup’s message, and signs in the next time', async () => {
    const email = someone();
    const browser = site.browser();
    const first = await social(browser, `/blaize/oauth/${provider}?popup=1`, { ...yes, account: email });
    expect(first.status).toBe(200);
    expect(first.headers['cross-origin-opener-policy']).toBe('unsafe-none');
    expect(first.headers['cache-control']).toBe('no-store');
    const message = told(first);
    expect(message).toEqual({ action: 'register', identifier: email, stateKey: expect.any(String) });
    const body = { identifiers: {}, attributes: {}, validators: { token_exchange: message.stateKey } };
    const made = await browser.post('/blaize/register', body);
    expect([made.status, made.json().message]).toEqual([200, 'Registration successful']);
    expect(await who(browser)).toBe(email);
    expect((await site.browser().post('/blaize/register', body)).status).toBe(400);

    const again = site.browser();
    const second = await social(again, `/blaize/oauth/${provider}`, { ...yes, account: email });
    expect(told(second)).toEqual({ action: 'login', cookie: expect.stringMatching(/^visitor=/) });
    expect(second.text.includes('blaize_session')).toBe(false);
    expect(await who(again)).toBe(email);
  });

  it('returns to the page without a popup or a script', async () => {
    const email = someone();
    const browser = site.browser();
    const page = await social(browser, `/blaize/oauth/${provider}?return=/latest`, { ...yes, account: email });
    expect(led(await browser.submit('/account/social', formOf(page.text)))).toBe('/latest');
    expect(await who(browser)).toBe(email);
    const second = await social(browser, `/blaize/oauth/${provider}?return=/about`, { ...yes, account: email });
    expect(second.text.includes('data-return="/about"')).toBe(true);
    expect(second.text.includes('href="/about"')).toBe(true);
  });

  it('returns to the target given to POST /blaize/oauth/state', async () => {
    const browser = site.browser();
    const state = await browser.post('/blaize/oauth/state', { start_url: '/', target_url: `${siteUrl}/media` });
    expect([state.status, state.json()]).toEqual([200, { message: 'State initialized' }]);
    const page = await social(browser, `/blaize/oauth/${provider}`, { ...yes, account: someone() });
    expect(formOf(page.text)).toMatchObject({ return: '/media' });
  });

  it('reports a failure when the reader declines, or when no reader started the sign-in', async () => {
    const browser = site.browser();
    const denied = await social(browser, `/blaize/oauth/${provider}`, { account: someone(), decision: 'deny' });
    expect(told(denied)).toEqual({ action: 'failure', message: expect.any(String) });
    const made = await browser.get(`/blaize/oauth/${provider}/callback?code=x&state=${'x'.repeat(43)}`);
    expect(told(made)).toMatchObject({ action: 'failure' });
    expect(await who(browser)).toBeUndefined();
    expect(led(await browser.submit('/account/social', { state_key: 'made-up', return: '/latest' }))).toBe(
      '/socialLogin?problem=social&return=%2Flatest',
    );
  });
});

it('a provider other than Google and Facebook gets 404', async () => {
  expect((await site.browser().get('/blaize/oauth/linkedin')).status).toBe(404);
  expect((await site.browser().get('/blaize/oauth/linkedin/callback')).status).toBe(404);
});
