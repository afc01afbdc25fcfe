import { describe, expect, it } from 'vitest';
import { emailInText } from './email-in-text.ts';

describe('emailInText', () => {
  it('finds the address of a suggestion and leaves the question mark with the text', () => {
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
  ])('reads %s', (text, email, after) => {
    expect(emailInText(text)).toMatchObject({ email, after });
  });

  it.each([
    'This address cannot receive mail.',
    'Something @ somewhere',
    '@example.com',
    'ada@localhost',
    'Please enter a whole address, such as name@example.com.',
    '',
  ])('finds none in “%s”', (text) => {
    expect(emailInText(text)).toEqual({ before: text, email: null, after: '' });
  });
});
