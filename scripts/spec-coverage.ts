/**
 * Reads `docs/spec-coverage.md`: a table with each numbered statement of the specification and the tests that show it.
 * `tests/spec-coverage.test.ts` checks that the tests exist.
 */
import { basename } from 'node:path';
import ts from 'typescript';

/** A test as the table names it: its file, and its title after as many group titles as are needed to identify it. */
interface NamedTest {
  readonly file: string;
  readonly titles: readonly string[];
}

export interface Statement {
  /** For example "2.1.3": section, part, position; sections without parts have two numbers. */
  readonly number: string;
  readonly words: string;
  readonly shownBy: readonly NamedTest[];
  /** Why no test shows it; `null` when one does. */
  readonly notShown: string | null;
}

/** Begins the second cell of a row without a test; the reason follows. */
const noTestPrefix = 'not shown by a test:';

/** Reads the rows of the table. @throws Error that names a row that cannot be read */
export function readTable(markdown: string): Statement[] {
  return [...markdown.matchAll(/^\| *(\d[\d.]*) *\|(.*)\|$/gmu)].map(([row, number = '', rest = '']) => {
    const [words, evidence, ...more] = rest.split(/(?<!\\)\|/u).map((cell) => cell.trim().replaceAll('\\|', '|'));
    if (!words || !evidence || more.length > 0) throw new Error(`This isn't a row of three cells: ${row}`);
    if (evidence.startsWith(noTestPrefix))
      return { number, words, shownBy: [], notShown: evidence.slice(noTestPrefix.length).trim() };
    return { number, words, shownBy: evidence.split(/ *<br> */u).map(readShown), notShown: null };
  });
}

function readShown(text: string): NamedTest {
  const [file = '', ...titles] = text.split(' › ');
  const path = /^`([^`]+)`$/u.exec(file)?.[1];
  if (!path || titles.length === 0) throw new Error(`This names no test as \`file\` › title: ${text}`);
  return { file: path, titles };
}

const runners = new Set(['it', 'test']);
const neverRunning = new Set(['skip', 'todo', 'fixme', 'fails', 'fail']);

/**
 * Titles of the tests in a source file, each with the titles of the groups around it. A title that is interpolated from a list in
 * the same file is returned once for each string of the lists; tests that never run are left out.
 */
export function titlesOf(source: string, name = 'a.test.ts'): string[][] {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, kind);
  const found: string[][] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    const call = ts.isCallExpression(node) ? testCallOf(node) : null;
    if (!call || !ts.isCallExpression(node)) {
      ts.forEachChild(node, (child) => visit(child, around));
      return;
    }
    if (call.idle) return;
    const [first] = node.arguments;
    const title = first && textOf(first);
    if (call.group) {
      for (const argument of node.arguments) visit(argument, title ? [...around, title] : around);
    } else {
      found.push(...(title ? [title] : textsOf(file)).map((each) => [...around, each]));
    }
  };
  visit(file, []);
  return found;
}

/** Whether a call makes a test or a group of tests: `it(…)`, `test.each(…)(…)`, `describe(…)`, `test.describe(…)`. */
function testCallOf(call: ts.CallExpression): { group: boolean; idle: boolean } | null {
  const names: string[] = [];
  let at: ts.Expression = call.expression;
  while (!ts.isIdentifier(at)) {
    if (ts.isPropertyAccessExpression(at)) {
      names.unshift(at.name.text);
      at = at.expression;
    } else if (ts.isCallExpression(at)) at = at.expression;
    else return null;
  }
  const group = at.text === 'describe' || (at.text === 'test' && names[0] === 'describe');
  if (!group && !runners.has(at.text)) return null;
  const last = names.at(-1);
  // `it.each([…])` alone doesn't define a test yet, and `test.use(…)` and `test.beforeEach(…)` aren't tests.
  if (last === 'each' || last === 'for') {
    if (!ts.isCallExpression(call.expression)) return null;
  } else if (!group && names.length > 0 && !neverRunning.has(last ?? '')) return null;
  const body = call.arguments.some((argument) => ts.isArrowFunction(argument) || ts.isFunctionExpression(argument));
  return body ? { group, idle: names.some((name) => neverRunning.has(name)) } : null;
}

/** A string as written in the source, with `${…}`; null for anything else. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : null;
}

function textsOf(file: ts.SourceFile): string[] {
  const texts = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && ts.isArrayLiteralExpression(node.parent)) texts.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...texts];
}

/** Errors in the numbering: numbers must be consecutive, and start at 1 in each part. */
function numberingProblems(statements: readonly Statement[]): string[] {
  const problems: string[] = [];
  let before: number[] = [];
  for (const { number } of statements) {
    const now = number.split('.').map(Number);
    const next = before.map((digit, place) => (place === before.length - 1 ? digit + 1 : digit));
    // The next number of the same part, or the first number of the next part or section.
    const ways = [next, [...before.slice(0, -2), (before.at(-2) ?? 0) + 1, 1]];
    if (before.length !== 2) ways.push([(before[0] ?? 0) + 1, 1], [(before[0] ?? 0) + 1, 1, 1]);
    else ways.push([(before[0] ?? 0) + 1, 1, 1]);
    if (!ways.some((way) => way.join('.') === now.join('.')))
      problems.push(`${number} does not follow ${before.join('.') || 'the beginning'}.`);
    before = now;
  }
  return problems;
}

/** The sentence of the document that states the number of rows. */
export function countSentence(statements: readonly Statement[]): string {
  const bare = statements.filter(({ notShown }) => notShown !== null).length;
  return `${statements.length} statements; ${bare} of them not shown by a test.`;
}

/**
 * @param read source text of a file of the repository; null when there is none
 * @returns all errors of the table; none if each statement names an existing test or says why it has none
 */
export function problemsOf(markdown: string, read: (file: string) => string | null): string[] {
  const statements = readTable(markdown);
  const problems = numberingProblems(statements);
  const known = new Map<string, string[][] | null>();
  for (const { number, shownBy, notShown } of statements) {
    if (notShown === '') problems.push(`${number} does not say why no test shows it.`);
    for (const { file, titles } of shownBy) {
      if (!known.has(file)) {
        const source = /\.(?:test|spec)\.tsx?$/u.test(file) ? read(file) : null;
        known.set(file, source === null ? null : titlesOf(source, basename(file)));
      }
      const there = known.get(file);
      if (!there) problems.push(`${number}: there are no tests in ${file}.`);
      else if (!there.some((chain) => chain.slice(-titles.length).join(' › ') === titles.join(' › ')))
        problems.push(`${number}: ${file} has no test “${titles.join(' › ')}”.`);
    }
  }
  if (!markdown.includes(countSentence(statements))) problems.push(`The page should say: ${countSentence(statements)}`);
  return problems;
}
