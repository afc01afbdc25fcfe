import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEmail } from '../email-verification/model.ts';
import { isAddress } from '../mail/model.ts';
import { normalEmail } from './model.ts';

describe('the normal form of an email address', () => {
  it.each([
    [' Ada@Example.COM ', 'ada@example.com'],
    ['ann@m\u00fcnchen.de', 'ann@xn--mnchen-3ya.de'],
    ['ann@M\u00dcNCHEN.de', 'ann@xn--mnchen-3ya.de'],
    ['ann@mu\u0308nchen.de', 'ann@xn--mnchen-3ya.de'],
    ['ann@xn--mnchen-3ya.de', 'ann@xn--mnchen-3ya.de'],
    // Full-width letters spell the same host.
    ['ann@\uff47mail.com', 'ann@gmail.com'],
    ['ann@gmail\u3002com', 'ann@gmail.com'],
  ])('of %j is %s', (text, normal) => {
    expect(normalEmail(text)).toBe(normal);
    expect(normalEmail(normal)).toBe(normal);
  });

  it.each([
    // The kelvin sign becomes a k in lower case; the dotted I becomes two letters.
    'an\u212a@example.com',
    '\u0130da@example.com',
    'ad\u0430@example.com',
    'ada@example.com/@evil.example',
    'ada@example.com%2eevil.example',
    'ada@[127.0.0.1]',
    'ada@127.1',
    'ada@example.com.',
    'ada@example.com\u0000',
    'ada@example.com\u001f',
    'ada@example',
    'ada@example.com\r\nBcc: eve@example.com',
    `ada@${'\u00fc'.repeat(80)}.de`,
    `${'a'.repeat(65)}@example.com`,
  ])('%j has no normal form', (text) => {
    expect(normalEmail(text)).toBeNull();
  });

  it('exists for every address that the address check accepts, and is safe in an email header', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'aZ9.-_+@ \u00fc\u212a\uff47\u3002\u200b\0\r\n%/'),
      maxLength: 24,
    });
    const near = fc.tuple(letters, letters).map(([local, domain]) => `${local}@${domain}.de`);
    fc.assert(
      fc.property(fc.oneof(letters, near), (text) => {
        const normal = normalEmail(text);
        expect(normal === null).toBe('flaw' in readEmail(text));
        if (normal === null) return;
        expect(normal).toMatch(/^[\x21-\x7e]+$/);
        expect(isAddress(normal)).toBe(true);
        expect(normalEmail(normal)).toBe(normal);
      }),
    );
  });
});
