import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddress, oneLine, readSender } from './model.ts';

/** Text with characters that matter in addresses and headers. */
const awkward = fc.string({
  unit: fc.constantFrom(...'aZ9.@,;:<>()"\'+-_é🙂 \t\r\n\0\u0085\u200b\u2028\u2029\\[]'),
  maxLength: 30,
});

describe('an email address', () => {
  it.each(['ada@example.com', 'a.b+c@sub.example.co.uk', 'ann@münchen.example', "o'neil@example.com"])(
    'can be %s',
    (text) => {
      expect(isAddress(text)).toBe(true);
    },
  );

  it.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example.com,bob@example.com',
    'ada@example.com bob@example.com',
    'Ada <ada@example.com>',
    'ada@example.com\r\nBcc: bob@example.com',
    'ada@example.com\n',
    'ada\u0000@example.com',
    'ada\u2028@example.com',
    '"ada lovelace"@example.com',
    'ada@@example.com',
    '.ada@example.com',
    'ada..b@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'e'.repeat(254)}.com`,
  ])('cannot be %j', (text) => {
    expect(isAddress(text)).toBe(false);
  });

  it('never contains white space or characters that would end a header or start another address', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        if (isAddress(text)) expect(text).not.toMatch(/[\s,;:<>"()]/);
      }),
    );
  });
});

it('the sender setting is read as a name and an address, or as an address alone', () => {
  expect(readSender('The Sun <news@sun.example>')).toEqual({ name: 'The Sun', address: 'news@sun.example' });
  expect(readSender('"The Sun, Inc." <news@sun.example>')).toEqual({
    name: 'The Sun, Inc.',
    address: 'news@sun.example',
  });
  expect(readSender(' news@sun.example ')).toEqual({ name: '', address: 'news@sun.example' });
  for (const text of ['', 'The Sun', 'The Sun <news>', 'The\nSun <news@sun.example>', 'a@b.example <c@d.example> e']) {
    expect(readSender(text)).toBeNull();
  }
});

it('oneLine removes line breaks and null characters from any text', () => {
  fc.assert(
    fc.property(awkward, (text) => {
      expect(oneLine(text)).not.toMatch(/[\r\n\u0085\u2028\u2029\0]/);
    }),
  );
  expect(oneLine('Hello\r\nBcc: x@y.z')).toBe('Hello Bcc: x@y.z');
});
