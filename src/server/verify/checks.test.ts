import { describe, expect, it } from 'vitest';
import { type Check, CheckFailure, formatLine, type Line, runChecks, summaryLine } from './checks.ts';

const answered = (asks: string, result: string) => ({ asks, run: async () => result });
const refused = (asks: string, error: Error) => ({
  asks,
  run: async () => {
    throw error;
  },
});

describe('running checks', () => {
  it('reports each result, and skips the rest of a group after a failure', async () => {
    const made: string[] = [];
    const check: Check = {
      service: 'mail',
      missing: null,
      steps: [
        answered('EHLO', 'hello'),
        refused('AUTH', new CheckFailure('535 no', 'check the password')),
        answered('DATA', 'sent'),
      ],
      cleanUp: async () => void made.push('cleaned up'),
    };
    const lines = await runChecks([check, { service: 'cdn', missing: null, steps: [answered('purge', 'taken')] }]);
    expect(lines.map(({ asks, outcome }) => [asks, outcome])).toEqual([
      ['EHLO', 'ok'],
      ['AUTH', 'failed'],
      ['DATA', 'skipped'],
      ['purge', 'ok'],
    ]);
    expect(lines[1]).toMatchObject({ result: '535 no', remedy: 'check the password' });
    expect(made).toEqual(['cleaned up']);
    expect(summaryLine(lines)).toBe('2 ok, 1 failed, 1 skipped');
  });

  it('does not contact a service that is not configured, and names the missing setting', async () => {
    const asked: string[] = [];
    const steps = [{ asks: 'EHLO', run: async () => asked.push('EHLO').toString() }];
    const lines = await runChecks([{ service: 'mail', missing: 'set SMTP_URL', steps }]);
    expect(lines).toEqual([
      { service: 'mail', asks: 'EHLO', outcome: 'skipped', result: 'set SMTP_URL', remedy: null },
    ]);
    expect(asked).toEqual([]);
  });

  it('reports an unexpected error as a failure, and a failed clean-up as another', async () => {
    const check: Check = {
      service: 'stripe',
      missing: null,
      steps: [refused('GET', new TypeError('fetch failed'))],
      cleanUp: async () => {
        throw new Error('still there');
      },
    };
    const lines = await runChecks([check]);
    expect(lines.map(({ outcome, result }) => [outcome, result])).toEqual([
      ['failed', 'fetch failed'],
      ['failed', 'still there'],
    ]);
    for (const { remedy } of lines) expect(remedy).not.toBeNull();
  });

  it('prints the remedy on a line of its own', () => {
    const line: Line = { service: 'mail', asks: 'AUTH', outcome: 'failed', result: '535', remedy: 'check it' };
    expect(formatLine(line)).toBe(`failed  mail       AUTH → 535\n${' '.repeat(19)}Do: check it`);
    expect(formatLine({ ...line, outcome: 'ok', remedy: null })).toBe('ok      mail       AUTH → 535');
  });
});
