import { describe, expect, it, vi } from 'vitest';
import type { VerificationAnswer } from '../../lib/accounts/schema.ts';
import type { Reply } from '../../lib/http/ask.ts';
import { emailProblem } from './messages.ts';
import { emailInText } from './notice.tsx';

const says = (value: unknown): Reply<VerificationAnswer> => ({
  ok: true,
  status: 200,
  value: value as VerificationAnswer,
});
const refuses = (status: number, message: string | null = null): Reply<VerificationAnswer> => ({
  ok: false,
  status,
  message,
  retryAfter: null,
  suggestedEmail: null,
});
const complaint = (answer: Reply<VerificationAnswer>, email = 'ada@example.com') =>
  emailProblem(email, async () => answer);

describe('emailProblem', () => {
  it('returns null for a verified address', async () => {
    expect(await complaint(says({ verified: true, suggestedEmail: null, message: null }))).toBeNull();
  });

  it('asks whether the suggested address was meant, in the words of the spec', async () => {
    const answer = says({ verified: false, suggestedEmail: 'ada@gmail.com', message: 'Not this one.' });
    expect(await complaint(answer)).toBe('Did you mean ada@gmail.com?');
  });

  it('returns the verifier’s message when there is no suggestion', async () => {
    const answer = says({ verified: false, suggestedEmail: null, message: 'This address cannot receive mail.' });
    expect(await complaint(answer)).toBe('This address cannot receive mail.');
  });

  it.each(['', null])('returns its own message when the verifier has none (%j)', async (message) => {
    const answer = says({ verified: false, suggestedEmail: null, message });
    expect(await complaint(answer)).toMatch(/valid email address/);
  });

  it.each([
    ['cannot be reached', refuses(0)],
    ['fails with a server error', refuses(500, 'Internal Server Error')],
    ['responds with 404', refuses(404)],
    ['responds with null', says(null)],
    ['responds with an unknown object', says({ hello: 'world' })],
  ])('accepts the address when the verifier %s', async (_what, answer) => {
    expect(await complaint(answer)).toBeNull();
  });

  it('returns the message of a rate limit, or its own', async () => {
    expect(await complaint(refuses(429, 'Please wait four minutes.'))).toBe('Please wait four minutes.');
    expect(await complaint(refuses(429))).toMatch(/Too many tries/);
  });

  it('rejects an invalid address without a request', async () => {
    const verify = vi.fn();
    expect(await emailProblem('', verify)).toBe('Please enter your email address.');
    for (const email of ['ada', 'ada@', '@example.com', 'ada@localhost', 'a da@example.com', 'ada@example.']) {
      expect(await emailProblem(email, verify), email).toMatch(/valid email address/);
    }
    expect(verify).not.toHaveBeenCalled();
  });
});

describe('emailInText', () => {
  it('finds the suggested address and leaves the question mark in the text', () => {
    expect(emailInText('Did you mean ada@gmail.com?')).toEqual({
      before: 'Did you mean ',
      email: 'ada@gmail.com',
      after: '?',
    });
  });

  it.each([
    ['Write to ada+news@mail.example.co.uk.', 'ada+news@mail.example.co.uk', '.'],
    ['<ada@example.com>', 'ada@example.com', '>'],
    ['“ada@example.com”, perhaps', 'ada@example.com', '”, perhaps'],
    ['ann@bücher.example!', 'ann@bücher.example', '!'],
  ])('finds the address in %s', (text, email, after) => {
    expect(emailInText(text)).toMatchObject({ email, after });
  });

  it.each([
    'This address cannot receive mail.',
    'Something @ somewhere',
    '@example.com',
    'ada@localhost',
    'Please enter a whole address, such as name@example.com.',
    '',
  ])('finds no address in “%s”', (text) => {
    expect(emailInText(text)).toEqual({ before: text, email: null, after: '' });
  });
});
