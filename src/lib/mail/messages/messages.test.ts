import { describe, expect, it } from 'vitest';
import type { Message, Publisher } from '../model.ts';
import { renderMessage } from './messages.ts';

const paper: Publisher = {
  name: 'The Sun',
  motto: 'It Shines for All',
  language: 'en-US',
  timeZone: 'America/New_York',
  siteUrl: 'https://sun.example',
  contact: 'support@sun.example',
  postalAddress: '',
};
const url = 'https://sun.example/blaize/token-exchange?token=aB-c_1&x=2';
const link = (purpose: 'login' | 'register' | 'completeRegistration', change = {}): Message => ({
  kind: 'link',
  to: 'ada@example.com',
  url,
  purpose,
  minutes: 10,
  ...change,
});
const code: Message = { kind: 'code', to: 'ada@example.com', code: '123456', minutes: 10 };
const welcome = (firstName: string | null): Message => ({ kind: 'welcome', to: 'ada@example.com', firstName });
const at = Date.UTC(2027, 0, 20, 3);
const billing = {
  receipt: {
    kind: 'receipt',
    to: 'ada@example.com',
    plan: 'Yearly',
    amount: 60,
    currency: 'usd',
    paidAt: at,
    nextBill: { at, amount: 12_000 },
  },
  renewal: { kind: 'renewal-notice', to: 'ada@example.com', plan: 'Yearly', amount: 12_000, currency: 'usd', at },
  failed: {
    kind: 'payment-failed',
    to: 'ada@example.com',
    plan: 'Yearly',
    amount: 12_000,
    currency: 'usd',
    nextAttempt: at,
    until: at,
  },
  cancelled: { kind: 'cancelled', to: 'ada@example.com', plan: 'Yearly', until: at },
  reader: { kind: 'welcome-tier', to: 'ada@example.com', product: 'sun-reader', plan: 'Yearly', print: false },
  print: { kind: 'welcome-tier', to: 'ada@example.com', product: 'sun-member', plan: 'Yearly with print', print: true },
  founder: { kind: 'welcome-tier', to: 'ada@example.com', product: 'sun-founder', plan: 'Founder', print: false },
} as const satisfies Record<string, Message>;
const all: readonly (readonly [name: string, message: Message])[] = [
  ['link to sign in', link('login')],
  ['link to register', link('register')],
  ['link to complete a registration', link('completeRegistration')],
  ['code', code],
  ['welcome', welcome('Ada')],
  ...Object.values(billing).map((message) => [`${message.kind}, ${message.plan}`, message] as const),
];
const render = (message: Message, minutes = 10) => renderMessage(message, paper, minutes);

describe('every message', () => {
  it.each(all)(
    'the message “%s” has the publisher’s name, contact and reason for receiving it, in HTML and plain text',
    (_, message) => {
      const { subject, html, text } = render(message);
      expect(subject).not.toMatch(/[\r\n]/);
      expect(html).toContain('<html lang="en-US"');
      expect(html).toMatch(/<meta name="color-scheme" content="light dark">/);
      expect(html.match(/<h1/g)).toHaveLength(1);
      for (const form of [html, text]) {
        expect(form).toContain('The Sun');
        expect(form).toContain('support@sun.example');
        expect(form).toMatch(/You’re receiving this email/);
      }
      for (const line of text.split('\n')) if (!line.includes('://')) expect(line.length).toBeLessThanOrEqual(72);
    },
  );

  it.each(all)(
    'the message “%s” loads no resource, contains no script, and marks its tables as presentational',
    (_, message) => {
      const { html } = render(message);
      expect(html).not.toMatch(/<(?:img|script|link|iframe|object|form|svg|video|audio)\b/i);
      expect(html).not.toMatch(/url\(|@import|@font-face|\bsrc=|background=/i);
      for (const table of html.match(/<table[^>]*>/g) ?? []) expect(table).toContain('role="presentation"');
      expect(Buffer.byteLength(html)).toBeLessThan(16_000);
    },
  );

  it.each(all)('the message “%s” has one button, or none for a code, with its URL also in the text', (_, message) => {
    const { html, text } = render(message);
    const buttons = [...html.matchAll(/<a class="label"[^>]*href="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(buttons).toHaveLength(message.kind === 'code' ? 0 : 1);
    for (const address of buttons) {
      expect(html).toContain(`>${address}</a>`);
      expect(text).toContain(`:\n${address.replaceAll('&#38;', '&')}\n`);
    }
  });

  it('has inline styles, for mail programs that drop the style sheet', () => {
    for (const [, message] of all) {
      const body = render(message).html.split('<body')[1] ?? '';
      for (const [element] of body.matchAll(/<[a-z0-9]+ [^>]*class="[^"]*"[^>]*>/g)) {
        if (!element.includes('class="wide"')) expect(element).toContain('style="');
      }
    }
  });
});

describe('a code message', () => {
  it('starts its subject with the code, shows it whole for copying, and spells it for screen readers', () => {
    const { subject, html, text } = render(code);
    expect(subject).toBe('123456 is your code for The Sun');
    expect(html).toContain('role="img" aria-label="1 2 3 4 5 6">123456<');
    expect(text).toContain('\n    123456\n');
  });

  it('says how long the code still works', () => {
    expect(render(code, 10).html).toContain('It works once, for 10 minutes.');
    expect(render(code, 1).html).toContain('It works once, for about a minute.');
  });

  it('is refused if the code is anything but digits', () => {
    for (const wrong of ['', '12 34', '123456\r\nBcc: x@y.z', '<b>1</b>']) {
      expect(() => render({ ...code, code: wrong } as Message)).toThrow();
    }
  });
});

describe('a link message', () => {
  it('has a subject that names what the link does', () => {
    expect(render(link('login')).subject).toBe('Your link to sign in to The Sun');
    expect(render(link('register')).subject).toBe('Confirm your email address for The Sun');
    expect(render(link('completeRegistration')).subject).toBe('Complete your registration with The Sun');
  });

  it.each(['login', 'register', 'completeRegistration'] as const)(
    'to %s names the newsletters that it signs up for',
    (purpose) => {
      const { html, text } = render(link(purpose, { newsletters: 'Morning Sun and Evening Sun' }));
      for (const form of [html, text.replaceAll('\n', ' ')]) {
        expect(form).toContain('The link also signs you up for Morning Sun and Evening Sun.');
        expect(form).toContain('continue without newsletters');
      }
      expect(render(link(purpose)).text).not.toContain('newsletter');
    },
  );

  it('is refused if the link is not a web address', () => {
    for (const wrong of [
      'javascript:alert(1)',
      '/relative',
      'https://sun.example/\r\nBcc: x@y.z',
      'https://sun.example/ x',
    ]) {
      expect(() => render(link('login', { url: wrong }))).toThrow('not a web address');
    }
    expect(render(link('login', { url: 'https://sun.example/?a="><b>' })).html).not.toContain('<b>');
  });
});

describe('a welcome message', () => {
  it('greets the reader by name', () => {
    expect(render(welcome('Ada')).text).toContain('Welcome, Ada');
    expect(render(welcome('Anne-Marie O’Neill')).text).toContain('Welcome, Anne-Marie O’Neill');
    expect(render(welcome('李')).text).toContain('Welcome, 李');
    expect(render(welcome(null)).html).toContain('Welcome to The Sun</h1>');
  });

  it('leaves out a name that looks like a URL, markup, a header or advertising', () => {
    for (const name of [
      'evil.example',
      'https://evil.example',
      'A\r\nBcc: x@y.z',
      '<img src=x>',
      'x'.repeat(50),
      ' ',
      'Win $100',
    ]) {
      const { html, text } = render(welcome(name));
      expect(html).toContain('Welcome to The Sun</h1>');
      expect(text).not.toMatch(/evil|Bcc|img|Win/);
    }
  });
});

describe('a message about a subscription', () => {
  it('is a receipt with cents, and dates in New York time', () => {
    const { subject, text } = render(billing.receipt);
    expect(subject).toBe('Your receipt from The Sun: $0.60');
    expect(text.replaceAll('\n', ' ')).toContain('We received $0.60 on January 19, 2027 for Yearly.');
    expect(text.replaceAll('\n', ' ')).toContain('The next payment of $120.00 is due on January 19, 2027.');
    expect(render({ ...billing.receipt, nextBill: null }).text).toMatch(/You won’t be charged for it\s+again\./);
    const paused = render({ ...billing.receipt, nextBill: 'paused' }).text.replaceAll('\n', ' ');
    expect(paused).toContain('Billing for it is paused. You won’t be charged for it until it resumes.');
    expect(paused).not.toContain('charged for it again');
  });

  it('confirms a cancellation after a refund without naming a last day of access', () => {
    const { text } = render({ ...billing.cancelled, until: null, over: true });
    expect(text).toMatch(/You won’t be charged for it\s+again\./);
    expect(text).not.toContain('access until');
  });

  it('announces a renewal with its amount and date', () => {
    const { subject, text } = render(billing.renewal);
    expect(subject).toBe('Your subscription to The Sun renews on January 19, 2027');
    expect(text).toContain('$120.00');
  });

  it.each([
    ['jpy', 1980, '¥1,980', '¥1,800 + ¥180 tax'],
    ['nzd', 1990, 'NZ$19.90', 'NZ$18.10 + NZ$1.80 tax'],
    ['kwd', 1500, 'KWD 1.500', 'KWD 1.320 + KWD 0.180 tax'],
  ])('has the number of decimals of its currency: %s', (currency, amount, sum, parts) => {
    const tax = { amount: 180, included: false };
    const taxed = { currency, amount, tax };
    const mails: Message[] = [
      { ...billing.receipt, ...taxed, nextBill: { at, amount, tax } },
      { ...billing.renewal, ...taxed },
      { ...billing.failed, ...taxed },
    ];
    for (const mail of mails) {
      const { subject, text, html } = render(mail);
      const plain = text.replace(/\s+/g, ' ');
      expect(plain).toContain(`${sum} (${parts})`);
      expect(
        plain.match(/(?:¥|NZ\$|KWD )[\d,.]*\d/g)?.filter((one) => ![sum, ...parts.split(/ \+ | tax/)].includes(one)),
      ).toEqual([]);
      expect(html.replace(/\s+/g, ' ')).toContain(sum);
      if (mail.kind === 'receipt') expect(subject.replace(/\s+/g, ' ')).toBe(`Your receipt from The Sun: ${sum}`);
    }
  });

  it('links to the card page when a payment failed', () => {
    expect(render(billing.failed).text).toContain('Update your card:\nhttps://sun.example/account/card\n');
    expect(render(billing.failed).text.replaceAll('\n', ' ')).toContain('We’ll try again on January 19, 2027.');
    expect(render({ ...billing.failed, nextAttempt: null }).text).not.toContain('try again');
    const over = render({ ...billing.failed, nextAttempt: null, over: true }).text.replaceAll('\n', ' ');
    expect(over).toContain('add another card to pay the bill. You had access until January 19, 2027.');
  });

  it('says until when a canceled subscription gives access', () => {
    expect(render(billing.cancelled).text.replaceAll('\n', ' ')).toContain('You have access until January 19, 2027.');
    const over = render({ ...billing.cancelled, over: true }).text.replaceAll('\n', ' ');
    expect(over).toContain('You had access until January 19, 2027.');
  });

  it('says nothing about all access, charges and plans to a reader with another subscription', () => {
    const words = (message: Message) => render(message).text.replaceAll('\n', ' ');
    const failed = { ...billing.failed, others: true };
    expect(words(failed)).toContain('You keep what it includes until January 19, 2027.');
    expect(words(failed)).not.toContain('keep reading');
    const over = words({ ...failed, nextAttempt: null, over: true });
    expect(over).toContain('To keep it, add another card to pay the bill. It gave you access until January 19, 2027.');
    const cancelled = { ...billing.cancelled, others: true };
    expect(words(cancelled)).toContain(
      'You keep what it includes until January 19, 2027. Your other subscription stays as it is.',
    );
    expect(words({ ...cancelled, until: null, over: true })).toContain('Your other subscription stays as it is.');
    expect(words(cancelled)).not.toMatch(/You have access|subscribe again|See the plans/);
    expect(words(cancelled)).toContain('/dashboard/account');
  });

  it('welcomes a reader by tier', () => {
    expect(render(billing.reader).subject).toBe('Welcome to The Sun: you’re a Sun Reader');
    expect(render(billing.print).text.replaceAll('\n', ' ')).toContain('deliver the print edition to the address');
    expect(render(billing.reader).text).not.toContain('print edition');
    expect(render(billing.founder).subject).toContain('Sun Founder');
    expect(render({ ...billing.reader, product: 'sun-other' }).subject).toContain('you’re a Yearly');
  });
});
