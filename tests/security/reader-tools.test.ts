/**
 * What must not be possible with the site as a whole, on the site as it runs: finding another reader's data by any address or number,
 * running a script in another reader's page through typed text or an address, overloading a call, or leaving readers' data in the log.
 * Each is tried on every existing route, including future ones.
 */
import { JSDOM } from 'jsdom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formFields } from '../../src/lib/accounts/model.ts';
import { profileFields } from '../../src/lib/accounts/profile.ts';
import * as accountBodies from '../../src/lib/accounts/schema.ts';
import * as billingBodies from '../../src/lib/billing/routes.server.ts';
import { cancelFields, cancelPath, cancelSteps } from '../../src/lib/billing/schema.ts';
import { editBody, postBody } from '../../src/lib/comments/routes.server.ts';
import { commentFields } from '../../src/lib/comments/schema.ts';
import { consentFields } from '../../src/lib/consent/model.ts';
import { pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { fieldNames } from '../../src/lib/http/form-fields.ts';
import { mailFields } from '../../src/lib/newsletters/schema.ts';
import { shippingFields } from '../../src/lib/plans/schema.ts';
import { readingBody } from '../../src/lib/saved/model.ts';
import { contactPage, supportFields } from '../../src/lib/support/schema.ts';
import { type Answer, type Asked, type Browser, build } from '../fixtures/account-site.ts';
import { everyRoute } from '../fixtures/paid-paper.ts';
import { startWholeSite, type WholeSite } from '../fixtures/whole-site.ts';
import { json } from '../fixtures/wordpress.ts';

const profileNames = profileFields.map(({ name }) => name);
/** The same value for each of these fields. */
const everyField = (names: readonly string[], value: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, value]));

/** The fields of each form that posts to its own page. */
const pageForms: Readonly<Record<string, readonly string[]>> = {
  [cancelPath]: fieldNames(cancelFields),
  [contactPage]: fieldNames(supportFields),
  '/shipping': fieldNames(shippingFields),
};

/** A word that is in everything that Ada has ever typed, and nowhere else. */
const mark = 'Quinzelope';
const adasEmail = 'secure-ada@example.com';
const home = {
  name: `Ada ${mark}`,
  address: { line1: `280 ${mark} Street`, city: 'New York', state: 'NY', postal_code: '10007', country: 'US' },
  phone: '12125550183',
};
const support = { name: `Ada ${mark}`, email: adasEmail, phone: '12125550183', message: `${mark} has not come.` };

let site: WholeSite;
let ada: Browser;
/** Ids of Ada's data: of her subscription, of herself, and of everything else in her own answers. */
let numbers: readonly string[] = [];

beforeAll(async () => {
  await build();
  site = await startWholeSite();
  ada = await site.join(adasEmail);
  const well = async (answer: Promise<Answer>): Promise<Answer> => {
    const { status, text } = await answer;
    expect(status, text).toBeLessThan(400);
    return answer;
  };
  const texts = profileFields.filter(({ kind = 'text' }) => kind === 'text').map(({ attribute }) => attribute);
  const profile = { ...everyField(texts, `Ada ${mark}`), 'phone-number': '12125550183', date_of_birth: '1990-12-10' };
  expect(Object.keys(profile).toSorted()).toEqual(profileFields.map(({ attribute }) => attribute).toSorted());
  await well(ada.post('/blaize/profile', profile));
  await well(ada.post('/api/v1/me/shipping', home));
  const order = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
  await well(ada.post('/blaize/payment/stripe/subscribe', order));
  await well(ada.post('/api/v1/gifts', { articleId: 9 }));
  await well(ada.post('/api/forms/support', support));
  await well(ada.ask('/api/v1/me/saved/3', { method: 'PUT', json: {} }));
  await well(ada.post('/api/v1/me/history', { articleId: 4 }));
  // This WordPress accepts no comments, so it stays her draft.
  const draft = 'a-draft-of-adas-own';
  await ada.post('/api/v1/comments', { articleId: 1, content: `${mark} has something to say.`, name: mark, draft });
  const told = await Promise.all(
    ['/blaize/account', '/api/v1/me/export', '/api/v1/me/subscription', '/api/v1/me/sessions'].map((path) =>
      ada.get(path),
    ),
  );
  expect(told[1]?.text).toContain(mark);
  const found = told.flatMap(({ text }) => [...text.matchAll(/"(?:[a-zA-Z_]*[iI]d|token)":\s*"?([\w-]{1,80})"?/g)]);
  numbers = [...new Set(found.map(([, number = '']) => number))].filter(Boolean);
  expect(numbers.some((number) => number.startsWith('sub_'))).toBe(true);
});
afterAll(() => site?.stop());

// Before the other tests, which write what they look for into addresses.
describe('the log', () => {
  it('has no personal data after a reader has used every feature', async () => {
    await ada.post('/api/forms/support', support);
    await ada.submit('/account/profile', { ...everyField(profileNames, mark), phone: '123' });
    await site.browser().get(`/?recognized_email=${encodeURIComponent(adasEmail)}`);
    const letters = await site.letters(adasEmail);
    expect(letters.length).toBeGreaterThan(0);
    const log = site.paper.output();
    expect(log.split('\n').length).toBeGreaterThan(5);
    const tokens = letters.flatMap(({ links }) => links.map((each) => new URL(each).searchParams.get('token') ?? ''));
    const named = [
      mark,
      adasEmail,
      'secure-',
      '@example.com',
      '12125550183',
      '198.18.',
      'xssmark',
      ...ada.jar.values(),
      ...tokens,
    ]
      .filter((each) => each.length > 5)
      .filter((each) => log.includes(each) && !/^(?:registered|reader)$/.test(each));
    const first = named[0] ?? '';
    const around = log.indexOf(first);
    expect(named, log.slice(Math.max(0, around - 300), around + 200)).toEqual([]);
  });
});

/** Every address of the site, with existing values for its parameters. */
const routes = (id: string): string[] =>
  everyRoute({
    slug: ['story-1', 'politics', 'account', 'profile', 'shipping', 'contact', 'saved', 'newsletters', 'privacy'],
    id: [id],
    thread: ['1'],
    token: [id],
    provider: ['google'],
    feed: ['rss.xml'],
    appId: ['games'],
  }).filter((path) => !path.startsWith('/-/'));

/** Calls that end a session or an account. */
const ends = /forget-me|log-?out|sign-out|oauth|delete/;
const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** No server error, except that a disabled feature answers 503. */
const fine = (status: number): boolean => status < 500 || status === 503;

describe('another reader’s data', () => {
  it('is in no response to another reader, on any route, with any of the reader’s IDs', async () => {
    const mallory = await site.join('secure-mallory@example.com');
    const visitor = site.browser();
    const before = await whole();
    const told: string[] = [];
    const isCall = (path: string): boolean => /^\/(?:api|blaize|zephr|account)\//.test(path);
    const look = (what: string, { status, text, headers }: Answer): void => {
      if (`${text}${JSON.stringify(headers)}`.includes(mark)) told.push(what);
      if (!fine(status)) told.push(`${what}: ${status}`);
    };
    for (const [at, number] of [encodeURIComponent(adasEmail), ...numbers.slice(0, 20)].entries()) {
      const fields = ['id', 'userId', 'user', 'customer', 'customerId', 'subscriptionId', 'trackingId', 'email', 'q'];
      const body = {
        ...Object.fromEntries(fields.map((field) => [field, decodeURIComponent(number)])),
        identifiers: { email_address: adasEmail },
        delivery: { destination: adasEmail, method: 'email', action: 'login' },
      };
      const query = new URLSearchParams(fields.map((field) => [field, decodeURIComponent(number)]));
      // Pages don't depend on numbers, so one round of them is enough.
      for (const path of routes(number).filter((each) => !ends.test(each) && (at === 0 || isCall(each)))) {
        // Random addresses, so that the data isn't merely protected by limits.
        const headers = {
          'x-forwarded-for': `198.18.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`,
        };
        for (const [name, browser] of Object.entries({ mallory, visitor })) {
          look(`GET ${path} as ${name}`, await browser.get(`${path}?${query}`, { headers }));
          if (!isCall(path) || name === 'visitor') continue;
          for (const method of methods)
            look(`${method} ${path} as ${name}`, await browser.ask(path, { method, json: body, headers }));
        }
      }
    }
    expect(told).toEqual([]);
    expect(mallory.jar.has('blaize_session'), 'Mallory is signed in to the end').toBe(true);
    expect(await whole()).toEqual(before);
  });

  /** What Ada's own calls return about her, without times. */
  async function whole(): Promise<unknown> {
    const paths = ['profile', 'shipping', 'subscription', 'saved', 'history', 'newsletters'].map((name) =>
      name === 'profile' ? '/blaize/profile' : `/api/v1/me/${name}`,
    );
    paths.push('/api/v1/comments/mine');
    return Promise.all(paths.map(async (path) => (await ada.get(path)).json()));
  }
});

/** The names of an object schema's fields, also of the objects in it. */
function namesOf(schema: unknown): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return namesOf(schema.unwrap());
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => [name, ...namesOf(field)]);
}

const script = `"'><img src=x onerror=xssmark()><script>xssmark()</script><a href="javascript:xssmark()">x</a><b onclick=xssmark()>`;
const link = 'javascript:xssmark()//';

/** The code in a page that a browser would run. */
function armed(html: string): string[] {
  if (!html.includes('xssmark')) return [];
  const { document } = new JSDOM(html).window;
  return [...document.querySelectorAll('*')].flatMap((element) => {
    const here = element.cloneNode(false) as Element;
    const scripts = element.localName === 'script' && !/json/.test(element.getAttribute('type') ?? '');
    const attributes = [...element.attributes].filter(
      ({ name, value }) =>
        value.includes('xssmark') &&
        (name.startsWith('on') ||
          name === 'srcdoc' ||
          (/^(?:href|src|action|formaction|data|content)$/.test(name) &&
            /^[\s\0-\x20]*(?:javascript|data|vbscript):/i.test(value))),
    );
    const runs = (scripts && element.textContent?.includes('xssmark')) || attributes.length > 0;
    return runs ? [here.outerHTML.slice(0, 200)] : [];
  });
}

describe('an injected script', () => {
  const parameters = [
    ...[
      'q',
      'query',
      'section',
      'sort',
      'from',
      'to',
      'return',
      'problem',
      'error',
      'message',
      'plan',
      'price',
      'frequency',
    ],
    ...[
      'email',
      'recognized_email',
      'token',
      'gift',
      'code',
      'state',
      'reason',
      'step',
      'sent',
      'done',
      'campaign',
      'kind',
    ],
    ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'],
  ];

  it('is found by the test’s own check', () => {
    expect(armed(script)).toHaveLength(4);
    expect(armed(`<a href=" ${link}">x</a><iframe srcdoc="xssmark"></iframe>`)).toHaveLength(2);
    expect(armed(`<p title="${link}">xssmark()</p><script type="application/ld+json">"xssmark"</script>`)).toEqual([]);
  });

  it.each([
    ['a script and event handlers', script],
    ['a javascript: link', link],
  ])('does not run on any page when a URL contains it as %s', async (_, payload) => {
    const found: string[] = [];
    for (const browser of [site.browser(), await site.join(`secure-xss-${payload.length}@example.com`)]) {
      for (const path of routes(encodeURIComponent(payload)).filter((each) => !ends.test(each))) {
        // The second time without those parameters whose invalid values are refused first.
        for (const names of [parameters, parameters.filter((name) => !/^(?:section|sort|from|to|token)$/.test(name))]) {
          const query = new URLSearchParams(names.map((name) => [name, payload]));
          const { status, text, headers } = await browser.get(`${path}?${query}`);
          if (!fine(status)) found.push(`${path}: ${status}`);
          if (/html/.test(String(headers['content-type'])))
            found.push(...armed(text).map((what) => `${path}: ${what}`));
          else if (text.includes('xssmark')) expect(headers['x-content-type-options'], path).toBe('nosniff');
          if (String(headers.location).includes('javascript:'))
            expect(headers.location, path).toMatch(/^(?:\/|https:)/);
        }
      }
    }
    expect(found).toEqual([]);
  });

  it('does not run on any page or in any email when a reader has typed it into a form', async () => {
    const email = 'secure-eve@example.com';
    const eve = await site.join(email);
    // As long as a name may be.
    const name = `"'><img src=x onerror=xssmark()>`;
    const kept = async (answer: Promise<Answer>): Promise<void> => expect((await answer).status).toBeLessThan(400);
    const forms: readonly (readonly [path: string, fields: Record<string, string>])[] = [
      // A refused form stores nothing, so each field is also tried by itself.
      ['/account/profile', everyField(profileNames, script)],
      ...profileNames.map((field) => ['/account/profile', { [field]: script }] as const),
      ['/account/profile', { first_name: name, last_name: name }],
      ['/account/sign-in', { ...everyField(Object.values(formFields), script), [formFields.return]: link }],
      ['/account/newsletter', { ...everyField(Object.values(formFields), script), [formFields.return]: link }],
      ...Object.entries(pageForms).map(([path, names]) => [path, everyField(names, script)] as const),
      [cancelPath, { ...everyField(fieldNames(cancelFields), script), step: cancelSteps.why }],
      [contactPage, { ...support, email, name: script, message: script }],
      ['/account/comment', { ...everyField(Object.values(commentFields), script), [commentFields.article]: '1' }],
    ];
    expect(Object.keys(pageForms).toSorted()).toEqual(pathsOf('takesForm').toSorted());
    const found: string[] = [];
    const look = (what: string, html: string): void =>
      void found.push(...armed(html).map((each) => `${what}: ${each}`));
    await kept(eve.post('/blaize/profile', { first_name: name, last_name: name, address: name }));
    await kept(eve.post('/api/v1/me/shipping', { ...home, name, address: { ...home.address, line1: name } }));
    await kept(eve.post('/api/forms/support', { ...support, email, name, message: script }));
    for (const [path, fields] of forms) look(`answer of ${path}`, (await eve.submit(path, fields)).text);
    // The name was stored, and is shown as text.
    expect((await eve.get('/dashboard/profile')).text).toContain('xssmark');
    // WordPress accepts this one comment.
    site.paper.wordpress.intercept = ({ method, url }) =>
      method === 'POST' && url.endsWith('/wp/v2/comments') ? json({ id: 5001, status: 'hold' }) : null;
    const { article, parent, content } = commentFields;
    const comment = { [article]: '1', [parent]: '0', [content]: script, [commentFields.name]: name };
    await kept(eve.submit('/account/comment', comment));
    site.paper.wordpress.intercept = null;
    const commented = (await eve.get(`/account/comment?${article}=1`)).text;
    look('the page of her comments', commented);
    expect(commented).toContain('xssmark');
    expect(commented).not.toContain(script);
    for (const path of routes('1').filter((each) => !ends.test(each))) {
      const { text, headers } = await eve.get(path);
      if (/html/.test(String(headers['content-type']))) look(path, text);
    }
    for (const to of [email, 'support@thesun.example'])
      for (const { html, subject } of await site.letters(to)) look(`mail “${subject}”`, html ?? '');
    expect(found).toEqual([]);
  });
});

describe('an oversized or malformed body', () => {
  const calls = () =>
    routes('1').filter(
      (path) => /^\/(?:api|blaize|zephr|account)\//.test(path) && !/webhook|Callback|revalidate/.test(path),
    );
  // Below the limit of 16 KiB for a body, which would refuse it before the field is read.
  const long = 'x'.repeat(12_000);
  const formNames = new Set([
    ...Object.values(formFields),
    ...profileNames,
    ...Object.values(pageForms).flat(),
    ...Object.values(commentFields),
    ...Object.values(mailFields),
    ...Object.values(consentFields),
    ...['q', 'couponCode'],
  ]);
  const bodySchemas = [
    ...Object.values(accountBodies),
    ...Object.values(billingBodies),
    postBody,
    editBody,
    readingBody,
  ];
  const jsonNames = new Set([
    ...bodySchemas.flatMap(namesOf),
    ...profileFields.map(({ attribute }) => attribute),
    ...fieldNames(supportFields),
    // Of schemas that are next to their routes.
    ...['choices', 'on', 'until'],
  ]);

  it('of more than a megabyte is refused by every call', async () => {
    const reader = await site.join('secure-large@example.com');
    const taken: string[] = [];
    for (const path of calls()) {
      const { status } = await reader.ask(path, {
        method: 'POST',
        body: `{"a":"${'x'.repeat(1_100_000)}"}`,
        headers: { 'content-type': 'application/json' },
      });
      if (status < 400 || status >= 500) taken.push(`${path}: ${status}`);
    }
    expect(taken).toEqual([]);
  });

  it('with a 12,000-character field, 2,500 levels or wrong types is not stored or sent back by any call', async () => {
    const reader = await site.join('secure-long@example.com');
    const taken: string[] = [];
    const bodies: readonly (readonly [name: string, asked: Asked])[] = [
      ...[...jsonNames].map((field) => [`a long ${field}`, { json: { [field]: long } }] as const),
      ...[...formNames].map((field) => [`a long ${field} of a form`, { form: { [field]: long } }] as const),
      [
        'nested',
        { body: `${'{"a":'.repeat(2500)}1${'}'.repeat(2500)}`, headers: { 'content-type': 'application/json' } },
      ],
      ['another kind', { json: Object.fromEntries([...jsonNames].map((field) => [field, [{ $gt: '' }]])) }],
    ];
    for (const path of calls().filter((each) => !ends.test(each))) {
      for (const [name, asked] of bodies) {
        const { status, headers, text } = await reader.ask(path, { method: 'POST', ...asked });
        // A form redirects to its page, which shows the error; nothing that was sent comes back whole.
        if (!fine(status) || text.includes(long) || String(headers.location).length > 2000)
          taken.push(`${path}, ${name}: ${status}`);
      }
    }
    expect(taken).toEqual([]);
    const profile = (await reader.get('/blaize/profile')).text;
    expect(profile.length).toBeLessThan(10_000);
  });
});
