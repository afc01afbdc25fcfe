import { describe, expect, it } from 'vitest';
import { adsTxt, securityTxt } from './well-known.ts';

describe('ads.txt', () => {
  it('names who may sell', () => {
    const text = adsTxt('https://sun.example', ['google.com, pub-1, DIRECT, f08c47fec0942fa0']);
    expect(text.split('\n')).toContain('google.com, pub-1, DIRECT, f08c47fec0942fa0');
    expect(text).not.toContain('placeholder');
    expect(text).toContain('ownerdomain=sun.example\n');
  });

  it('says that nobody may where nobody does', () => {
    expect(adsTxt('https://sun.example', [])).toContain(
      '\nplaceholder.example.com, placeholder, DIRECT, placeholder\n',
    );
  });
});

describe('security.txt', () => {
  const now = Date.parse('2026-11-23T10:20:30Z');
  const fields = new Map(
    securityTxt('https://sun.example', now)
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
  );

  it('has what RFC 9116 requires', () => {
    expect(fields.get('Contact')).toMatch(/^mailto:\S+@\S+$/);
    expect(fields.get('Canonical')).toBe('https://sun.example/.well-known/security.txt');
  });

  it('expires within a year, counted from now', () => {
    expect(fields.get('Expires')).toBe('2027-05-22T00:00:00Z');
  });
});
