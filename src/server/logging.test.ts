import { expect, it } from 'vitest';
import { createLog } from './logging.ts';

it('the log keeps an error’s message, code, and location, but not its other properties', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const carried = {
    raw: { payment_method: { billing_details: { email: 'ada@example.com' } } },
    headers: { a: 'secret' },
  };
  const error = Object.assign(new Error('Your card was declined.'), {
    code: 'card_declined',
    statusCode: 402,
    ...carried,
  });
  log.error({ err: error }, 'It failed');
  const [line = ''] = lines;
  expect(JSON.parse(line)).toMatchObject({
    msg: 'It failed',
    err: { type: 'Error', message: 'Your card was declined.', code: 'card_declined', statusCode: 402 },
  });
  expect(line).toContain('logging.test.ts');
  expect(line).not.toMatch(/ada@|secret/);
});

it('the log keeps the path of an address, but not its secrets', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  for (const url of ['/account/unsubscribe?token=secret', '/gift/secret?utm_source=mail', '/article/a#secret']) {
    log.error({ url }, 'It failed');
  }
  expect(lines.map((line) => JSON.parse(line).url)).toEqual(['/account/unsubscribe', '/gift/[left out]', '/article/a']);
});

it('the log leaves email addresses out of error messages, however long they are', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const said = 'Key (email)=(ada@example.com) is there; "bob.b@mail.example.org", x@y@cleo@example.com. ';
  // Without bounds this would take minutes.
  log.error({ err: new Error(said + 'a.'.repeat(100_000)) }, 'It failed');
  const { message } = JSON.parse(lines[0] ?? '').err as { message: string };
  expect(message).toContain('Key (email)=([left out]) is there; "[left out]", x@y@[left out]. a.a.');
  expect(lines[0]).not.toMatch(/ada@|bob\.b|cleo/);
});
