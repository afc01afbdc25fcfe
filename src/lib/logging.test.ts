import { expect, it } from 'vitest';
import { createFailureLog, silent, warnOncePerHost } from './logging.ts';

it('a warning is logged once for each message and host, up to 500 in total', () => {
  const lines: [string, object][] = [];
  const warn = warnOncePerHost({ ...silent, warn: (context, message) => void lines.push([message, context]) });
  for (let index = 0; index < 40; index++)
    warn('Not measured', `https://secure.gravatar.com/avatar/${index}`, { reason: 'host not allowed' });
  warn('Not measured', 'https://other.example/1', { reason: 'status 404' });
  warn('Not read', 'https://other.example/1', {});
  warn('Not measured', 'no address', {});
  expect(lines.map(([message, context]) => [message.split(';')[0], (context as { host: string }).host])).toEqual([
    ['Not measured', 'secure.gravatar.com'],
    ['Not measured', 'other.example'],
    ['Not read', 'other.example'],
    ['Not measured', ''],
  ]);
  for (let index = 0; index < 2000; index++) warn('Not measured', `https://${index}.example/`, {});
  expect(lines).toHaveLength(500);
});

it('a failure is logged once, until the work succeeds again', () => {
  const lines: string[] = [];
  const add = (_: object, message: string): void => void lines.push(message);
  const failures = createFailureLog({ warn: add, info: add }, 'works again');
  failures.worked();
  failures.failed({}, 'fails');
  failures.failed({}, 'fails otherwise');
  failures.worked();
  failures.worked();
  failures.failed({}, 'fails');
  expect(lines).toEqual(['fails', 'works again', 'fails']);
});
