import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { editDistance } from '../edit-distance.ts';
import { readEmail, withoutTypingErrors } from './model.ts';
import { typoOf } from './typos.ts';
import { createEmailVerification, isDisposable } from './verification.server.ts';

const alone = createEmailVerification({ mailDomain: null, external: null });

/** Text with characters that matter in addresses and headers. */
const awkward = fc.string({
  unit: fc.constantFrom(...'aZ9.@,;:<>()"\'+-_é🙂 \t\r\n\0\u0085\u200b\u2028\u2029\\[]'),
  maxLength: 30,
});

describe('email syntax', () => {
  it.each([
    'ada@example.com',
    'ADA.L+news@Mail.Example.co.uk',
    "o'neil@example.com",
    'ada@münchen.de',
    'a@1.example.com',
    ' ada@example.com ',
  ])('accepts %s', async (email) => {
    expect(readEmail(email)).not.toHaveProperty('flaw');
    expect(await alone.verify(email)).toEqual({ verified: true, suggestedEmail: null, message: '' });
  });

  it('converts an international domain to ASCII for DNS', () => {
    expect(readEmail('ann@MÜNCHEN.de')).toMatchObject({ domain: 'münchen.de', asciiDomain: 'xn--mnchen-3ya.de' });
  });

  it.each([
    ['', 'Please enter your email address.'],
    ['ada', 'An email address has an @ in it, as in name@example.com.'],
    ['@example.com', 'Something is missing before the @.'],
    ['ada@', 'Something is missing after the @, such as example.com.'],
    ['ada@example', 'Please check the part after the @. It looks like example.com.'],
    ['ada@127.0.0.1', 'Please check the part after the @. It looks like example.com.'],
    ['ada@-x.com', 'Please check the part after the @. It looks like example.com.'],
    ['ada@exam/ple.com', 'Please check the part after the @. It looks like example.com.'],
    ['"ada"@example.com', 'Please check the part before the @.'],
    [`${'a'.repeat(65)}@example.com`, 'Please check the part before the @.'],
    ['adà@example.com', 'Please use an address without accents before the @. We can’t send mail to others yet.'],
  ])('rejects %j with a message', async (email, message) => {
    expect(await alone.verify(email)).toEqual({ verified: false, suggestedEmail: null, message });
  });

  it.each([
    ['ada@example,com', 'ada@example.com'],
    ['ada @example.com', 'ada@example.com'],
    ['ada@example..com', 'ada@example.com'],
    ['ada@@example.com', 'ada@example.com'],
    ['ada@example.com.', 'ada@example.com'],
    ['Ada Lovelace <ada@example.com>', 'ada@example.com'],
    ['mailto:ada@example.com', 'ada@example.com'],
    ['ada@gmail', 'ada@gmail.com'],
    ['ada@gmial,com', 'ada@gmail.com'],
  ])('suggests a correction for %j', async (email, suggestion) => {
    expect(await alone.verify(email)).toEqual({
      verified: false,
      suggestedEmail: suggestion,
      message: `Did you mean ${suggestion}?`,
    });
  });

  it('accepts only printable ASCII addresses, and suggests only valid ones, for any text', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        const parts = readEmail(text);
        if (!('flaw' in parts)) expect(`${parts.local}@${parts.asciiDomain}`).toMatch(/^[\x21-\x7e]+$/);
        const better = withoutTypingErrors(text);
        if (better !== null) expect(readEmail(better)).not.toHaveProperty('flaw');
      }),
    );
  });
});

describe('typo detection in domains', () => {
  it.each([
    ['gmial.com', 'gmail.com'],
    ['gmail.con', 'gmail.com'],
    ['gmail.co', 'gmail.com'],
    ['gmai.com', 'gmail.com'],
    ['gmailcom', 'gmail.com'],
    ['hotmial.con', 'hotmail.com'],
    ['hotmaul.com', 'hotmail.com'],
    ['yaho.com', 'yahoo.com'],
    ['outlok.com', 'outlook.com'],
    ['comcst.net', 'comcast.net'],
    ['iclould.com', 'icloud.com'],
    ['protonmial.com', 'protonmail.com'],
    ['example.ocm', 'example.com'],
  ])('corrects %s to %s', (typed, meant) => {
    expect(typoOf(typed)?.domain).toBe(meant);
  });

  it.each([
    'gmail.com',
    'mail.com',
    'email.com',
    'ymail.com',
    'gmx.net',
    'cox.net',
    'mac.com',
    'me.com',
    'love.com',
    'time.com',
    'vox.com',
    'example.com',
    'thesun.example',
    'university.ac.uk',
    'fastmail.fm',
    'company.co',
    'yahoo.fr',
    'hey.com',
    'sun.test',
    'gov.uk',
    'aol.com',
    'x.com',
    'posteo.de',
    'mit.edu',
    'nytimes.com',
  ])('leaves %s unchanged', (domain) => {
    expect(typoOf(domain)).toBeNull();
  });

  it('counts a swap, a removal or a replacement as one edit', () => {
    expect(editDistance('abcd', 'abcd', 2)).toBe(0);
    expect(editDistance('abcd', 'abdc', 2)).toBe(1);
    expect(editDistance('abcd', 'abd', 2)).toBe(1);
    expect(editDistance('abcd', 'xbcy', 2)).toBe(2);
    expect(editDistance('abcd', 'abcdefgh', 2)).toBeGreaterThan(2);
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
        expect(editDistance(one, other, 20)).toBe(editDistance(other, one, 20));
        expect(editDistance(one, other, 20) === 0).toBe(one === other);
      }),
    );
  });
});

describe('disposable email domains', () => {
  it.each(['mailinator.com', 'guerrillamail.com', 'foo.yopmail.com'])('include %s', async (domain) => {
    expect(isDisposable(domain)).toBe(true);
    expect(await alone.verify(`ada@${domain}`)).toMatchObject({
      verified: false,
      suggestedEmail: null,
      message: expect.stringContaining('temporary'),
    });
  });

  it.each(['gmail.com', 'example.com', 'privaterelay.appleid.com', 'duck.com', 'mozmail.com', 'com'])(
    'do not include %s',
    (domain) => {
      expect(isDisposable(domain)).toBe(false);
    },
  );
});

describe('verification with DNS and an external service', () => {
  const verify = (email: string, takes: 'takes-mail' | 'takes-none' | 'unknown', answer?: object) =>
    createEmailVerification({
      mailDomain: async () => takes,
      external: answer ? async () => ({ result: 'unknown', suggestion: null, ...answer }) as never : null,
    }).verify(email);

  it('accepts a domain similar to gmail.com if it takes mail, unless it is a known typo', async () => {
    expect((await verify('ada@gmoil.com', 'takes-mail')).verified).toBe(true);
    expect((await verify('ada@gmoil.com', 'takes-none')).suggestedEmail).toBe('ada@gmail.com');
    expect((await verify('ada@gmoil.com', 'unknown')).suggestedEmail).toBe('ada@gmail.com');
    expect((await verify('ada@gmial.com', 'takes-mail')).suggestedEmail).toBe('ada@gmail.com');
  });

  it('rejects a domain that takes no mail', async () => {
    expect(await verify('ada@nowhere.example', 'takes-none')).toEqual({
      verified: false,
      suggestedEmail: null,
      message: 'We can’t send mail to nowhere.example. Please check the part after the @.',
    });
  });

  it('follows the service’s result, and shows its suggestion only if that is a valid address', async () => {
    expect((await verify('ada@example.com', 'unknown', { result: 'deliverable' })).verified).toBe(true);
    expect((await verify('ada@example.com', 'unknown', { result: 'unknown' })).verified).toBe(true);
    expect(await verify('ada@example.com', 'takes-mail', { result: 'undeliverable' })).toMatchObject({
      verified: false,
      suggestedEmail: null,
      message: expect.stringContaining('couldn’t find this mailbox'),
    });
    const suggestion = 'ada.l@example.com';
    expect(await verify('ada@example.com', 'takes-mail', { result: 'undeliverable', suggestion })).toMatchObject({
      suggestedEmail: suggestion,
    });
    for (const wrong of ['no address', 'a@b.example\r\nBcc: c@d.example', 'ada@example.com']) {
      const answer = await verify('ada@example.com', 'takes-mail', { result: 'undeliverable', suggestion: wrong });
      expect(answer).toMatchObject({ verified: false, suggestedEmail: null });
    }
  });

  it('makes no request for an address that is rejected without one', async () => {
    const mailDomain = vi.fn();
    const external = vi.fn();
    const { verify: ask } = createEmailVerification({ mailDomain, external });
    for (const email of ['ada', 'ada@gmial.com', 'ada@mailinator.com']) await ask(email);
    expect(mailDomain).not.toHaveBeenCalled();
    expect(external).not.toHaveBeenCalled();
  });
});
