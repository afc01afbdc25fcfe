/** Each statement of the specification has a test, or says why it has none (docs/spec-coverage.md). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/setup/places.mjs';
import { countSentence, problemsOf, readTable, titlesOf } from '../scripts/spec-coverage.ts';

const page = readFileSync(join(root, 'docs', 'spec-coverage.md'), 'utf8');

describe('the table in docs/spec-coverage.md', () => {
  it('names existing tests for every statement, without a gap in the numbers', () => {
    const read = (file: string): string | null => {
      const path = join(root, file);
      return existsSync(path) ? readFileSync(path, 'utf8') : null;
    };
    expect(problemsOf(page, read)).toEqual([]);
    // Slow because it parses many files.
  });

  it('covers all nine sections of the specification', () => {
    const sections = new Set(readTable(page).map(({ number }) => number.split('.')[0]));
    expect([...sections]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });
});

describe('the checker of docs/spec-coverage.md', () => {
  const source = [
    "describe('a door', () => {",
    "  it('opens', () => {});",
    "  it.each([1])('has %i lock', () => {});",
    "  it.skip('sings', () => {});",
    "  it.todo('flies');",
    `  it(\`keeps \${what} out\`, () => {});`,
    '});',
  ].join('\n');
  const table = (...rows: string[]): string => {
    const lines = rows.map((row) => `| ${row} |`).join('\n');
    return `${countSentence(readTable(lines))}\n\n${lines}\n`;
  };
  const wrong = (...rows: string[]): string[] =>
    problemsOf(table(...rows), (file) => (file === 'src/door.test.ts' ? source : null));

  it('finds a test by its own title and by its describe titles', () => {
    expect(
      wrong(
        '1.1 | Doors open. | `src/door.test.ts` › opens',
        `1.2 | And more. | \`src/door.test.ts\` › a door › has %i lock <br> \`src/door.test.ts\` › keeps \${what} out`,
        '2.1.1 | They are heavy. | not shown by a test: a test can’t lift one.',
        '2.1.2 | They are blue. | `src/door.test.ts` › a door › opens',
        '2.2.1 | They close. | `src/door.test.ts` › opens',
        '3.1 | They stay. | `src/door.test.ts` › opens',
      ),
    ).toEqual([]);
  });

  it.each([
    ['a title that doesn’t exist', ['1.1 | x | `src/door.test.ts` › closes'], 'has no test “closes”'],
    ['a test in another group', ['1.1 | x | `src/door.test.ts` › a window › opens'], 'has no test “a window › opens”'],
    ['a skipped test', ['1.1 | x | `src/door.test.ts` › sings'], 'has no test “sings”'],
    ['a test that is still to be written', ['1.1 | x | `src/door.test.ts` › flies'], 'has no test “flies”'],
    ['a file that doesn’t exist', ['1.1 | x | `src/gate.test.ts` › opens'], 'no tests in src/gate.test.ts'],
    ['a file without tests', ['1.1 | x | `src/door.ts` › opens'], 'no tests in src/door.ts'],
    [
      'a gap in the numbers',
      ['1.1 | x | `src/door.test.ts` › opens', '1.3 | x | `src/door.test.ts` › opens'],
      '1.3 does not follow',
    ],
    ['a first number other than 1.1', ['1.2 | x | `src/door.test.ts` › opens'], '1.2 does not follow'],
  ] as const)('reports %s', (_, rows, problem) => {
    expect(wrong(...rows).join('\n')).toContain(problem);
  });

  it('reports a missing reason, a row that names no test, and a wrong total', () => {
    expect(wrong('1.1 | x | not shown by a test:')).toEqual(['1.1 does not say why no test shows it.']);
    expect(() => wrong('1.1 | Doors open. | yes')).toThrow('names no test');
    expect(() => wrong('1.1 | Doors open. | ')).toThrow("isn't a row of three cells");
    const miscounted = table('1.1 | x | `src/door.test.ts` › opens').replace('1 statements', '2 statements');
    expect(problemsOf(miscounted, () => source)).toEqual([
      'The page should say: 1 statements; 0 of them not shown by a test.',
    ]);
  });

  it('finds titles of tests that a loop over a list creates', () => {
    const made = "for (const part of ['front', 'back']) test(part, () => {});";
    expect(titlesOf(made)).toEqual([['front'], ['back']]);
  });
});
