import { describe, expect, it, test } from 'vitest';
import { checkFields, readFields } from '../http/form-fields.ts';
import { type SupportField, type SupportFields, supportFields, supportMessages } from './schema.ts';
import { type SpamSigns, spamReason } from './service.server.ts';

const checkSupport = (values: SupportFields) => checkFields(supportFields, values);
const supportFrom = (read: (name: SupportField) => unknown) => readFields(supportFields, read);

const good: SupportFields = {
  name: 'Ada Whitlock',
  email: 'ada@example.com',
  phone: '+1 (212) 555-0183',
  message: 'The paper did not come on Saturday.',
};

describe('the support form’s four fields', () => {
  it('are accepted when valid', () => expect(checkSupport(good)).toEqual({}));

  it('are all required (spec section 5)', () => {
    expect(Object.keys(checkSupport(supportFrom(() => null)))).toEqual(['name', 'email', 'phone', 'message']);
    expect(Object.keys(checkSupport(supportFrom(() => ' \n ')))).toEqual(['name', 'email', 'phone', 'message']);
  });

  it.each([
    [{ email: 'ada' }, 'email'],
    [{ email: 'ada@example' }, 'email'],
    [{ email: 'ada@example.com, eve@example.com' }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email'],
    // The mail client can't reply to these addresses, and would drop the message although the reader was thanked for it.
    ...['.ada@example.com', 'ada.@example.com', 'ada..w@example.com', 'ada@-example.com', 'ada@example..com'].map(
      (email) => [{ email }, 'email'] as const,
    ),
    [{ phone: '12' }, 'phone'],
    [{ phone: 'call me at 2125550183' }, 'phone'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ message: 'x'.repeat(5001) }, 'message'],
  ] as const)('are refused with %o', (part, field) =>
    expect(Object.keys(checkSupport({ ...good, ...part }))).toEqual([field]),
  );

  it('are cleaned: no line break in one-line fields, and no control characters', () => {
    const sent: Record<string, unknown> = {
      name: ' Ada\r\nBcc: eve@example.com ',
      email: 'ada@example.com\u0000',
      phone: 12,
      message: 'One\r\nTwo\rThree\u0007\u0000\tfour ',
    };
    expect(supportFrom((name) => sent[name])).toEqual({
      name: 'Ada Bcc: eve@example.com',
      email: 'ada@example.com',
      phone: '',
      message: 'One\nTwo\nThree\tfour',
    });
  });
});

describe('a support message', () => {
  const now = 1_000_000;
  const signs: SpamSigns = { honeypot: '', renderedAt: now - 60_000, known: false };
  const of = (fields: Partial<SupportFields>, more: Partial<SpamSigns> = {}) =>
    spamReason({ ...good, ...fields }, { ...signs, ...more }, now);

  it('with up to two links is not spam', () => {
    expect(of({})).toBeNull();
    expect(of({ message: 'See https://example.com/a and https://example.com/b' })).toBeNull();
  });

  it('is spam if the invisible field is filled in', () => {
    expect(of({}, { honeypot: 'https://spam.example' })).toBe('trap');
    expect(of({}, { honeypot: 'x', known: true })).toBe('trap');
  });

  it('is spam if sent within three seconds by a reader who is not signed in', () => {
    expect(of({}, { renderedAt: now - 2999 })).toBe('hasty');
    expect(of({}, { renderedAt: now - 3000 })).toBeNull();
    expect(of({}, { renderedAt: now - 10, known: true })).toBeNull();
  });

  it('is spam with five links, or two if the form was not served by the site', () => {
    const links = (count: number) => 'https://a.example '.repeat(count);
    expect([of({ message: links(4) }), of({ message: links(5) })]).toEqual([null, 'links']);
    expect([of({ message: links(1) }, { renderedAt: null }), of({ message: links(2) }, { renderedAt: null })]).toEqual([
      null,
      'links',
    ]);
    expect(of({ name: 'www.spam.example' })).toBe('links');
    expect(of({ message: links(9) }, { known: true })).toBeNull();
  });
});

test('the error message for a failed support message is that of spec section 8', () => {
  expect(supportMessages.failed).toBe('There was an error submitting your message. Please try again.');
});
