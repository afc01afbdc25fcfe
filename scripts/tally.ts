/** Counts tests: the results of every runner, the failures, and the total on the last line. */
import { stripVTControlCharacters } from 'node:util';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts from vitest's JSON report. A file that could not be loaded counts as one failed test. */
export function countVitest(report: {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests?: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}): Counts {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
  };
}

/** Counts from Playwright's JSON report. A flaky test counts as failed, and so does an error outside of any test. */
export function countPlaywright(report: {
  readonly stats: {
    readonly expected: number;
    readonly unexpected: number;
    readonly flaky: number;
    readonly skipped: number;
  };
  readonly errors?: readonly unknown[];
}): Counts {
  const { expected, unexpected, flaky, skipped } = report.stats;
  const failed = unexpected + flaky;
  return { passed: expected, failed: failed === 0 && report.errors?.length ? report.errors.length : failed, skipped };
}

/** Failed tests as lines for the end of a long log: file, test, and the start of the message. */
export function failuresOfVitest(report: {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}): string[] {
  return report.testResults.flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    if (file.status === 'failed' && file.assertionResults.length === 0)
      return [summaryOf(file.name, 'could not be loaded', file.message ?? '')];
    return failed.map((test) => summaryOf(file.name, test.fullName, test.failureMessages?.[0] ?? ''));
  });
}

interface PlaywrightSuite {
  readonly suites?: readonly PlaywrightSuite[];
  readonly specs?: readonly {
    readonly file: string;
    readonly title: string;
    readonly tests: readonly {
      readonly status: string;
      readonly results: readonly { readonly error?: { readonly message?: string } }[];
    }[];
  }[];
}

/** The same of Playwright's report, with errors outside of any test. */
export function failuresOfPlaywright(report: {
  readonly suites?: readonly PlaywrightSuite[];
  readonly errors?: readonly { readonly message?: string }[];
}): string[] {
  const inside = (suite: PlaywrightSuite): string[] => [
    ...(suite.specs ?? []).flatMap((spec) =>
      spec.tests
        .filter(({ status }) => status === 'unexpected' || status === 'flaky')
        .map(({ results }) =>
          summaryOf(
            spec.file,
            spec.title,
            results.find(({ error }) => error)?.error?.message ?? 'it ended without a message',
          ),
        ),
    ),
    ...(suite.suites ?? []).flatMap(inside),
  ];
  const outside = (report.errors ?? []).map(({ message }) =>
    summaryOf('playwright', 'outside of a test', message ?? ''),
  );
  return [...(report.suites ?? []).flatMap(inside), ...outside];
}

/**
 * How many lines of a message are printed: enough for an assertion's difference, few enough to leave room for other failures.
 */
const messageLines = 12;

const summaryOf = (file: string, test: string, message: string): string =>
  [
    `${file.replace(/^.*?(?=(?:src|sandbox|scripts|bench|tests|wordpress)\/)/, '')} › ${test}`,
    ...stripVTControlCharacters(message)
      .split('\n')
      .slice(0, messageLines)
      .map((line) => `    ${line.slice(0, 400)}`),
  ].join('\n');

/** How many lines of output are printed if a runner failed without a failed test. */
const outputLines = 40;

/**
 * Output of a runner that failed without a failed test, for the end of a long log: from vitest's errors outside of tests on, or else
 * the last lines.
 */
export function failureOfOutput(part: string, lines: readonly string[]): string {
  const plain = lines.flatMap((line) => stripVTControlCharacters(line).split('\n'));
  const errors = plain.findIndex((line) => /Unhandled (?:Error|Rejection)/.test(line));
  const shown = errors === -1 ? plain.slice(-outputLines) : plain.slice(errors, errors + outputLines);
  return [`${part} › without a failed test`, ...shown.map((line) => `    ${line.slice(0, 400)}`)].join('\n');
}

/** One check that passes or fails as a whole. */
export const countCheck = (passed: boolean): Counts => ({ passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 });

/**
 * The result of a runner: one that ran no test, or exited with an error without a failed test, has failed.
 *
 * @param exitCode of the runner
 * @param counts `null` when it left no report
 */
export function judge(exitCode: number, counts: Counts | null): Counts {
  if (!counts || counts.passed + counts.failed === 0) return { passed: 0, failed: 1, skipped: counts?.skipped ?? 0 };
  if (exitCode !== 0 && counts.failed === 0) return { ...counts, failed: 1 };
  return counts;
}

export function sum(all: readonly Counts[]): Counts {
  const add = (key: keyof Counts): number => all.reduce((total, counts) => total + counts[key], 0);
  return { passed: add('passed'), failed: add('failed'), skipped: add('skipped') };
}

/** The last line of `npm test`. */
export const sentence = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
