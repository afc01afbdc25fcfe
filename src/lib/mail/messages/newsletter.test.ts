import { describe, expect, it } from 'vitest';
import type { Message } from '../model.ts';
import { publisherAt } from '../publisher.ts';
import { renderMessage } from './messages.ts';

const paper = publisherAt('https://sun.example');
const render = (message: Message) => renderMessage(message, paper, 60);

describe('a newsletter', () => {
  const unsubscribe = 'https://sun.example/account/unsubscribe?t=aB-c_1';
  const story = (number: number, change = {}) => ({
    title: `Story ${number}`,
    standfirst: 'Why & how.',
    path: `/article/story-${number}`,
    kicker: 'Politics',
    byline: 'Ada Whitlock',
    minutes: 4,
    ...change,
  });
  const letter = (change = {}): Message => ({
    kind: 'newsletter',
    to: 'ada@example.com',
    letter: 'Morning Sun',
    slug: 'morning',
    unsubscribe,
    minutes: 720,
    day: 'Friday, November 20, 2026',
    stories: [story(1), story(2), story(3)],
    ...change,
  });

  it('has every story with its URL and a link to unsubscribe, in HTML and plain text', () => {
    const { subject, html, text } = render(letter());
    expect(subject).toBe('Morning Sun: Story 1');
    for (const number of [1, 2, 3]) {
      expect(html).toContain(`href="https://sun.example/article/story-${number}"`);
      expect(text).toContain(`\nhttps://sun.example/article/story-${number}\n`);
    }
    expect(html.match(/<h1/g)).toHaveLength(1);
    // Headlines from right to left, and words longer than a phone's line.
    expect(html.match(/<h2 dir="auto"/g)).toHaveLength(3);
    expect(html).toMatch(/<td class="body" style="[^"]*overflow-wrap:anywhere/);
    expect(html).toContain(`href="${unsubscribe}"`);
    expect(text).toContain(`Unsubscribe: ${unsubscribe}`);
    for (const form of [html, text]) {
      expect(form.replaceAll('\n', ' ')).toContain(
        'You’re receiving this email because you signed up for Morning Sun at sun.example.',
      );
      expect(form).toContain('https://sun.example/dashboard/newsletters');
      expect(form).toContain(paper.postalAddress);
    }
    for (const line of text.split('\n')) if (!line.includes('://')) expect(line.length).toBeLessThanOrEqual(72);
  });

  it('has the headers for one-click unsubscribing in a mail program (RFC 8058)', () => {
    expect(render(letter()).headers).toEqual({
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': '<morning.sun.example>',
      Precedence: 'bulk',
    });
    for (const wrong of ['javascript:alert(1)', `${unsubscribe}>\r\nBcc: x@y.z`, '/relative']) {
      expect(() => render(letter({ unsubscribe: wrong }))).toThrow('not a web address');
    }
  });

  it('loads no resource, contains no script, has one style per element, and presentational tables', () => {
    const { html } = render(letter({ stories: Array.from({ length: 8 }, (_, number) => story(number)) }));
    expect(html).not.toMatch(/<(?:img|script|link|iframe|object|form|svg|video|audio)\b/i);
    expect(html).not.toMatch(/url\(|@import|@font-face|\bsrc=|background=/i);
    for (const table of html.match(/<table[^>]*>/g) ?? []) expect(table).toContain('role="presentation"');
    for (const [element] of html.matchAll(/<[a-z0-9]+ [^>]*>/g)) {
      expect(element.match(/ style="/g)?.length ?? 0).toBeLessThan(2);
    }
    expect(Buffer.byteLength(html)).toBeLessThan(40_000);
  });

  it('escapes markup in a headline, and is refused without stories', () => {
    const title = '<script>alert("1")</script> & "more"';
    const { html, text, subject } = render(letter({ stories: [story(1, { title, standfirst: '', kicker: '' })] }));
    expect(html).not.toContain('<script>');
    expect(text).toContain(title);
    expect(subject).toBe(`Morning Sun: ${title}`);
    expect(() => render(letter({ stories: [] }))).toThrow('no story');
  });
});

describe('a message to the support inbox', () => {
  const message = (change = {}): Message => ({
    kind: 'support',
    to: 'desk@sun.example',
    name: 'Ada Whitlock',
    email: 'ada@example.com',
    phone: '2125550183',
    message: 'One.\n\nTwo <b>bold</b>.',
    at: Date.UTC(2026, 10, 20, 14),
    known: true,
    minutes: 60,
    ...change,
  });

  it('names the reader in its subject and body, and has the reader’s address in Reply-To', () => {
    const { subject, html, text, replyTo, headers } = render(message());
    expect(subject).toBe('Support: Ada Whitlock');
    expect(replyTo).toEqual({ name: 'Ada Whitlock', address: 'ada@example.com' });
    // Otherwise a ticket system would take it for an automatic message.
    expect(headers?.['Auto-Submitted']).toBe('no');
    for (const form of [html, text]) {
      expect(form).toContain('2125550183');
      expect(form).toContain('signed in with this address');
      expect(form).toContain('November 20, 2026');
    }
    expect(html).not.toContain('<b>');
    expect(text).toContain('One.\n\nTwo <b>bold</b>.');
  });

  it('has no line break in its headers, even if the reader’s name has one', () => {
    const { subject, replyTo } = render(message({ name: `Ada\r\nBcc: eve@example.com ${'x'.repeat(300)}` }));
    expect(subject).not.toMatch(/[\r\n]/);
    expect(replyTo?.name).not.toMatch(/[\r\n]/);
    expect(subject.length).toBeLessThan(80);
    expect(() => render(message({ email: 'ada@example.com\r\nBcc: x@y.z' }))).toThrow('no address');
  });
});
