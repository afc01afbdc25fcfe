/**
 * The compiler must check the properties of every object: so there is no spread literal (`...{ a, b }`), whose excess properties it
 * accepts. What is sent to a vendor has no conditional one (`...(c && { a })`) and no `Record<string, unknown>` either. Checked on
 * the syntax tree.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { scriptsOf } from '../scripts/import-rules.ts';
import { root } from '../scripts/setup/places.mjs';

/** Folders and files of src/lib that talk to vendors. */
const towardVendors = [
  'ads',
  'billing/engine/invoices.server.ts',
  'billing/engine/customers.server.ts',
  'billing/engine/wallets.server.ts',
  'billing/engine/stripe.server.ts',
  'cdn/cdn.server.ts',
  'comments/moderation.server.ts',
  'consent',
  'email-verification/external.server.ts',
  'indexnow',
  'mail/smtp.server.ts',
  'ticker/twelve-data.server.ts',
  '../islands/Retention/Retention.island.tsx',
  'search/algolia-feed.server.ts',
  'search/algolia.server.ts',
  'search/record.ts',
  'third-party',
  'accounts/social-providers.server.ts',
];

/** Whether an expression is an object literal, or may evaluate to one. */
function hasLiteral(expression: ts.Expression): boolean {
  const node = bare(expression);
  if (ts.isObjectLiteralExpression(node)) return true;
  if (ts.isConditionalExpression(node)) return hasLiteral(node.whenTrue) || hasLiteral(node.whenFalse);
  return ts.isBinaryExpression(node) && hasLiteral(node.right);
}

const bare = (node: ts.Expression): ts.Expression =>
  ts.isParenthesizedExpression(node) ? bare(node.expression) : node;

/** Calls `look` with each node of a source, and with a description of its place. */
function walk(name: string, text: string, look: (node: ts.Node, place: string) => void): void {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
  const visit = (node: ts.Node): void => {
    look(node, `${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Constructs that aren't allowed in code that talks to a vendor. */
function faultsIn(name: string, text: string): string[] {
  const faults: string[] = [];
  walk(name, text, (node, place) => {
    if (ts.isSpreadAssignment(node) && hasLiteral(node.expression)) faults.push(`${place} a spread literal`);
    if (ts.isTypeReferenceNode(node) && node.getText().replaceAll(/\s/g, '') === 'Record<string,unknown>')
      faults.push(`${place} Record<string, unknown>`);
  });
  return faults;
}

/** Object literals that are spread into another object or into a component's attributes. */
function spreadLiterals(name: string, text: string): string[] {
  const found: string[] = [];
  walk(name, text, (node, place) => {
    if (
      (ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node)) &&
      ts.isObjectLiteralExpression(bare(node.expression))
    )
      found.push(place);
  });
  return found;
}

it('code that talks to vendors has no spread literal and no Record<string, unknown>', () => {
  const files = towardVendors.flatMap((path) => {
    const whole = join(root, 'src', 'lib', path);
    if (/\.tsx?$/.test(path)) return [whole];
    const names = readdirSync(whole, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /(?<!\.test)\.tsx?$/.test(name)).map((name) => join(whole, name));
  });
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((path) => faultsIn(relative(root, path), readFileSync(path, 'utf8')))).toEqual([]);
});

it('no source file spreads an object literal', () => {
  const sources = '{src,sandbox,scripts,tests,bench,wordpress}/**/*.{ts,tsx,mjs,astro}';
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules/**'] });
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    if (!/\.\.\.\s*\(*\s*\{/.test(text)) return [];
    return spreadLiterals(name, name.endsWith('.astro') ? scriptsOf(text) : text);
  });
  expect(found).toEqual([]);
});

it.each([
  ['x.ts', 'call({ ...{ a, b }, c });', ['x.ts:1']],
  ['x.tsx', 'const a = <Field\n  {...{ a, b }} />;', ['x.tsx:2']],
  ['x.tsx', 'const a = <Field {...props} />; call({ ...(c && { a }) });', []],
])('the check finds the spread literals, if any, in %s: %j', (name, text, found) => {
  expect(spreadLiterals(name, text)).toEqual(found);
});

it.each([
  ['call({ ...{ a, b }, c });', ['x.ts:1 a spread literal']],
  ['call({\n  ...({ a }),\n});', ['x.ts:2 a spread literal']],
  ['call({ ...(b && { a }) });', ['x.ts:1 a spread literal']],
  ['call({ ...(b ? { a } : {}) });', ['x.ts:1 a spread literal']],
  ['let a: Readonly<Record<string, unknown>>;', ['x.ts:1 Record<string, unknown>']],
  ['call({ ...settings }); let a: Record<string, string>;', []],
  ['// ...{ a } and Record<string, unknown>', []],
])('the check of vendor code finds the faults, if any, in %j', (text, faults) => {
  expect(faultsIn('x.ts', text)).toEqual(faults);
});
