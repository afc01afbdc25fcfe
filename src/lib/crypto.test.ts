import { expect, it } from 'vitest';
import { createSealer } from './crypto.server.ts';

const old = 'an-old-secret-of-thirty-two-characters';
const fresh = 'a-fresh-secret-of-thirty-two-characters';

it('a sealed value opens only for its purpose and until it expires', () => {
  let clock = 1_000_000;
  const sealer = createSealer({ secrets: [fresh], now: () => clock });
  const text = sealer.seal('form', { email: 'a@b.example' }, 60);
  expect(text).not.toContain('example');
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain('example');
  expect(sealer.open('form', text)).toEqual({ email: 'a@b.example' });
  expect(sealer.open('other', text)).toBeNull();
  clock += 61_000;
  expect(sealer.open('form', text)).toBeNull();
});

it('a value sealed with an earlier key opens, and new values are sealed with the first key', () => {
  const text = createSealer({ secrets: [old] }).seal('form', 1, 60);
  expect(createSealer({ secrets: [fresh, old] }).open('form', text)).toBe(1);
  expect(createSealer({ secrets: [fresh] }).open('form', text)).toBeNull();
  const next = createSealer({ secrets: [fresh, old] }).seal('form', 2, 60);
  expect(createSealer({ secrets: [fresh] }).open('form', next)).toBe(2);
});

it('a sealed value that was changed, cut or made up does not open', () => {
  const sealer = createSealer({ secrets: [fresh] });
  const text = sealer.seal('form', 'value', 60);
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A';
    expect(sealer.open('form', text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
  }
  for (const made of [undefined, '', 'x', text.slice(0, -1), text.slice(0, 20), `${text}A`, 'a'.repeat(5000), 'a b'])
    expect(sealer.open('form', made)).toBeNull();
  expect(() => createSealer({ secrets: [] })).toThrow();
});
