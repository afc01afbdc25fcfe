/**
 * What is sent to a vendor is checked by the compiler: no object put together by a spread literal (`...{ a, b }`, `...(c && { a })`), whose
 * excess properties pass, and no `Record<string, unknown>`, which takes everything. Read from the syntax, not by words.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from '../scripts/setup/places.mjs';

/** Folders and files of src/lib that talk to vendors. */
const towardVendors = [
  'ads',
  'audience',
  'billing/engine/bills.server.ts',
  'billing/engine/customers.server.ts',
  'billing/engine/payment-domains.server.ts',
  'billing/engine/stripe.server.ts',
  'cdn/cloudflare.server.ts',
  'cdn/fastly.server.ts',
  'comments/engine/moderation.server.ts',
  'consent',
  'email-verification/external.server.ts',
  'indexnow',
  'mail/smtp.server.ts',
  'market/twelve-data.server.ts',
  'retention',
  'search/algolia-feed.server.ts',
  'search/algolia.server.ts',
  'search/record.ts',
  'third-party',
  'accounts/engine/social-providers.server.ts',
];

/** Whether an expression is an object literal, or may come out as one. */
function hasLiteral(expression: ts.Expression): boolean {
  const node = bare(expression);
  if (ts.isObjectLiteralExpression(node)) return true;
  if (ts.isConditionalExpression(node)) return hasLiteral(node.whenTrue) || hasLiteral(node.whenFalse);
  return ts.isBinaryExpression(node) && hasLiteral(node.right);
}

const bare = (node: ts.Expression): ts.Expression =>
  ts.isParenthesizedExpression(node) ? bare(node.expression) : node;

function faultsIn(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
  const faults: string[] = [];
  const note = (node: ts.Node, what: string) =>
    faults.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${what}`);
  const visit = (node: ts.Node): void => {
    if (ts.isSpreadAssignment(node) && hasLiteral(node.expression)) note(node, 'a spread literal');
    if (ts.isTypeReferenceNode(node) && node.getText().replaceAll(/\s/g, '') === 'Record<string,unknown>')
      note(node, 'Record<string, unknown>');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return faults;
}

it('is typed, wherever a vendor is spoken to', () => {
  const files = towardVendors.flatMap((path) => {
    const whole = join(root, 'src', 'lib', path);
    if (path.endsWith('.ts')) return [whole];
    const names = readdirSync(whole, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /(?<!\.test)\.tsx?$/.test(name)).map((name) => join(whole, name));
  });
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((path) => faultsIn(relative(root, path), readFileSync(path, 'utf8')))).toEqual([]);
});

it.each([
  ['call({ ...{ a, b }, c });', ['x.ts:1 a spread literal']],
  ['call({\n  ...({ a }),\n});', ['x.ts:2 a spread literal']],
  ['call({ ...(b && { a }) });', ['x.ts:1 a spread literal']],
  ['call({ ...(b ? { a } : {}) });', ['x.ts:1 a spread literal']],
  ['let a: Readonly<Record<string, unknown>>;', ['x.ts:1 Record<string, unknown>']],
  ['call({ ...settings }); let a: Record<string, string>;', []],
  ['// ...{ a } and Record<string, unknown>', []],
])('finds out %j', (text, faults) => {
  expect(faultsIn('x.ts', text)).toEqual(faults);
});
