/**
 * Messages between readers and the newspaper, on the built site over HTTP: the support form, choosing and unsubscribing from
 * newsletters (RFC 8058), and deleting an account. Forms are posted as a browser posts them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SupportFields, supportMessages } from '../../src/lib/support/schema.ts';
import { type AccountSite, type Browser, siteUrl, startAccountSite } from '../fixtures/account-site.ts';
import { formOf } from './fixtures/accounts.ts';

let site: AccountSite;
beforeAll(async () => {
  site = await startAccountSite();
});
afterAll(() => site.stop());

let count = 0;
const someone = (): string => `letters-${++count}@example.com`;
const choicesOf = async (browser: Browser) =>
  (await browser.get('/api/v1/me/newsletters')).json<{ choices: string[] }>().choices;
const letter = () => ({
  letter: 'Morning Sun',
  slug: 'morning',
  day: 'today',
  stories: [{ title: 'A', standfirst: '', path: '/article/a', kicker: '', byline: '', minutes: 1 }],
});

describe('POST /api/forms/support (spec section 7)', () => {
  const body = {
    name: 'Ada Whitlock',
    email: 'ada@example.com',
    phone: '212 555 0183',
    message: 'Where is my paper?',
  } satisfies SupportFields;
  const mailed = (text: string) =>
    site.mail.filter((message) => message.kind === 'support' && message.message.includes(text));

  it('takes the four fields from any reader and mails them to the support inbox', async () => {
    const answer = await site.browser().post('/api/forms/support', { ...body, message: 'From a stranger' });
    expect([answer.status, answer.json()]).toEqual([200, { message: supportMessages.sent }]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(mailed('From a stranger')).toMatchObject([{ email: 'ada@example.com', known: false }]);
  });

  it('names missing fields, and refuses other origins, other content types and long bodies', async () => {
    const browser = site.browser();
    const status = async (asked: Parameters<Browser['ask']>[1]) =>
      (await browser.ask('/api/forms/support', { method: 'POST', ...asked })).status;
    for (const field of ['name', 'email', 'phone', 'message']) {
      const answer = await browser.post('/api/forms/support', { ...body, [field]: ' ' });
      expect([answer.status, Object.keys(answer.json<{ errors: object }>().errors)]).toEqual([400, [field]]);
    }
    expect(await status({ json: { ...body, message: undefined } })).toBe(400);
    expect(await status({ json: { ...body, message: { toString: 'x' } } })).toBe(400);
    expect(await status({ json: { ...body, message: 'x'.repeat(5001) } })).toBe(400);
    expect(await status({ json: { ...body, message: 'x'.repeat(70_000) } })).toBe(413);
    expect(await status({ json: body, headers: { origin: 'https://evil.example' } })).toBe(403);
    expect(await status({ body: 'x', headers: { 'content-type': 'text/xml' } })).toBe(415);
    expect((await browser.get('/api/forms/support')).status).toBe(405);
    expect(mailed('Where is my paper?')).toEqual([]);
  });

  it('answers 429 after five messages from one address, and holds back a message from a bot', async () => {
    const browser = site.browser();
    const sent = await browser.post('/api/forms/support', { ...body, message: 'In the trap', website: 'x' });
    expect(sent.json()).toEqual({ message: supportMessages.sent });
    expect(mailed('In the trap')).toEqual([]);
    for (let tries = 1; tries < 5; tries++) await browser.post('/api/forms/support', body);
    const over = await browser.post('/api/forms/support', body);
    expect([over.status, over.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    const kept = await site.database.db.selectFrom('support_messages').select(['message', 'held']).execute();
    expect(kept).toContainEqual({ message: 'In the trap', held: 'trap' });
  });

  it('works as a plain form for a signed-out reader, and keeps the typed text', async () => {
    const browser = site.browser();
    const page = await browser.get('/contact');
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'private, no-store']);
    const form = formOf(page.text, /<form[^>]*action="\/contact"[\s\S]*?<\/form>/);
    expect(form).toMatchObject({ website: '', stamp: expect.stringMatching(/^[\w-]{20,}$/) });
    const wrong = await browser.submit('/contact', { ...form, ...body, name: 'Ada "<b>"', email: 'nonsense' });
    expect([wrong.status, wrong.text.includes('value="Ada &quot;&lt;b&gt;&quot;"')]).toEqual([400, true]);
    expect(wrong.text).toContain('Please enter a valid email address');
    expect(wrong.text).toContain('Where is my paper?');
    // The form that comes back keeps its original time.
    expect(formOf(wrong.text, /<form[^>]*action="\/contact"[\s\S]*?<\/form>/).stamp).toBe(form.stamp);
    const sent = await browser.submit('/contact', { ...body, message: 'By a plain form' });
    expect([sent.status, sent.headers.location]).toEqual([303, '/contact?state=sent']);
    expect((await browser.get('/contact?state=sent')).text).toContain(supportMessages.sent);
    expect(mailed('By a plain form')).toHaveLength(1);
    const direct = await browser.submit('/api/forms/support', { ...body, message: 'To the call itself' });
    expect([direct.status, direct.headers.location]).toEqual([303, '/contact?state=sent']);
    const foreign = await browser.submit('/contact', { ...body }, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
  });

  it('shows the message of spec section 8 when it cannot store the text, and keeps what was typed', async () => {
    const broken = await startAccountSite({
      services: {
        support: {
          ...site.support,
          take: async () => {
            throw new Error('no database');
          },
        },
      },
    });
    try {
      const browser = broken.browser();
      const answer = await browser.post('/api/forms/support', body);
      expect([answer.status, answer.json<{ message: string }>().message]).toEqual([503, supportMessages.failed]);
      const page = await browser.submit('/contact', { ...body });
      expect([page.status, page.text.includes(supportMessages.failed)]).toEqual([503, true]);
      expect(page.text).toContain('Where is my paper?');
    } finally {
      await broken.stop();
    }
  });
});

describe('a reader’s newsletters', () => {
  it('are chosen by form or API, and only by the reader', async () => {
    const browser = site.browser();
    expect((await browser.get('/api/v1/me/newsletters')).status).toBe(401);
    await browser.signIn(site, someone());
    expect(await choicesOf(browser)).toEqual([]);
    const put = await browser.ask('/api/v1/me/newsletters', { method: 'PUT', json: { choices: ['evening', 'x'] } });
    expect([put.status, put.json(), put.headers['cache-control']]).toEqual([200, { choices: ['evening'] }, 'no-store']);
    const page = await browser.get('/dashboard/newsletters');
    expect(formOf(page.text, /<form[^>]*action="\/account\/mail"[\s\S]*?<\/form>/)).toBeDefined();
    expect(page.text).toMatch(/value="evening"[^>]*checked|checked[^>]*value="evening"/);
    const saved = await browser.submit('/account/mail', { choice: ['morning', 'offers'] });
    expect([saved.status, saved.headers.location]).toEqual([303, '/dashboard/newsletters?state=saved']);
    expect(await choicesOf(browser)).toEqual(['morning', 'offers']);
    expect((await browser.get('/dashboard/newsletters?state=saved')).text).toContain('Your choices are saved.');
    expect(await choicesOf(site.browser())).toBeUndefined();
    const foreign = await browser.submit('/account/mail', {}, { headers: { origin: 'https://evil.example' } });
    expect([foreign.status, await choicesOf(browser)]).toEqual([403, ['morning', 'offers']]);
  });
});

describe('unsubscribing from a newsletter (RFC 8058)', () => {
  /** Readers of the morning's newsletter, and the addresses that its links lead to. */
  async function reader(): Promise<{ browser: Browser; path: string }> {
    const email = someone();
    const browser = site.browser();
    await browser.signIn(site, email);
    await browser.submit('/account/mail', { choice: ['morning', 'evening'] });
    await site.database.db.deleteFrom('newsletter_issues').execute();
    await site.newsletters.send('morning', letter);
    const mail = site.mail.findLast((message) => message.kind === 'newsletter' && message.to === email);
    if (mail?.kind !== 'newsletter') throw new Error('No letter came.');
    const url = new URL(mail.unsubscribe);
    expect(url.origin).toBe(siteUrl);
    return { browser, path: url.pathname + url.search };
  }
  /** Headers of a mail program's request: no cookies, no origin. */
  const noBrowser = { origin: null, 'sec-fetch-site': null, 'user-agent': 'Mail/1.0' };

  it('takes one POST from a mail program, and ends that newsletter only', async () => {
    const { browser, path } = await reader();
    const program = site.browser();
    const answer = await program.submit(path, { 'List-Unsubscribe': 'One-Click' }, { headers: noBrowser });
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await choicesOf(browser)).toEqual(['evening']);
    // Some programs send the other form encoding.
    const parts = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
    const headers = { ...noBrowser, 'content-type': 'multipart/form-data; boundary=x' };
    expect((await program.ask(path, { method: 'POST', body: parts, headers })).status).toBe(200);
  });

  it('takes a click when the link is opened in a browser, since scanners open links too', async () => {
    const { browser, path } = await reader();
    const person = site.browser();
    const page = await person.get(path);
    expect([page.status, page.text.includes('Unsubscribe from Morning Sun?')]).toEqual([200, true]);
    expect((await person.ask(path, { method: 'HEAD' })).status).toBe(200);
    expect(await choicesOf(browser)).toEqual(['morning', 'evening']);
    const done = await person.submit(path, {});
    expect(done.text).toContain('You’re unsubscribed');
    expect(await choicesOf(browser)).toEqual(['evening']);
    const back = await person.submit(path, { again: 'yes' });
    expect(back.text).toContain('You’re subscribed again');
    expect(await choicesOf(browser)).toEqual(['morning', 'evening']);
  });

  it('is refused with 404 for a missing or forged token', async () => {
    const { browser, path } = await reader();
    const changed = `${path.slice(0, -2)}${path.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const forged of ['/account/unsubscribe', '/account/unsubscribe?t=x', changed]) {
      const answer = await site.browser().submit(forged, {}, { headers: noBrowser });
      expect([answer.status, answer.text.includes('This link has expired')]).toEqual([404, true]);
    }
    expect(await choicesOf(browser)).toEqual(['morning', 'evening']);
  });
});

describe('a reader’s data', () => {
  it('is in the export, and is deleted with the account once the reader types the right address', async () => {
    const email = someone();
    const browser = site.browser();
    await browser.signIn(site, email);
    await browser.submit('/account/mail', { choice: 'morning' });
    await browser.post('/api/forms/support', { name: 'Ada', email, phone: '2125550183', message: 'My letter.' });
    const file = await browser.get('/api/v1/me/export');
    expect(file.headers['content-disposition']).toContain('attachment');
    expect(file.json()).toMatchObject({
      mail_choices: [{ choice: 'morning' }],
      support_messages: [{ message: 'My letter.' }],
    });

    const page = await browser.get('/dashboard/privacy');
    expect(page.text).toContain('This device');
    const refused = await browser.submit('/account/delete', { email: 'eve@example.com' });
    expect(refused.headers.location).toBe('/dashboard/privacy?problem=confirm#delete');
    expect((await browser.get('/dashboard/privacy?problem=confirm')).text).toContain('Nothing was deleted.');
    const foreign = await browser.submit('/account/delete', { email }, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    expect((await browser.get('/blaize/account')).status).toBe(200);

    const deleted = await browser.submit('/account/delete', { email: ` ${email.toUpperCase()} ` });
    expect([deleted.status, deleted.headers.location]).toEqual([303, '/account/deleted']);
    expect((await browser.get('/account/deleted')).text).toContain('Your account is deleted');
    expect((await browser.get('/blaize/account')).status).toBe(401);
    const { db } = site.database;
    expect(await db.selectFrom('users').select('id').where('email', '=', email).execute()).toEqual([]);
    expect(await db.selectFrom('support_messages').select('id').where('email', '=', email).execute()).toEqual([]);
    expect((await site.browser().submit('/account/delete', { email })).headers.location).toMatch(/^\/socialLogin/);
  });
});

describe('the shipping tab (spec section 4)', () => {
  it('is hidden without a print plan, and its page says why', async () => {
    const browser = site.browser();
    await browser.signIn(site, someone());
    const page = await browser.get('/dashboard/shipping');
    expect([page.status, page.text.includes('doesn’t include the print edition')]).toEqual([200, true]);
    expect(page.text).not.toContain('href="/dashboard/shipping"');
  });
});
