import { expect, it } from 'vitest';
import { isInput } from './test-stamps.ts';

it.each([
  ['types', 'wordpress/newsroom/tests/adopt.test.ts'],
  ['imports', 'wordpress/newsroom/tests/adopt.test.ts'],
  // The tables of docs/spec-coverage.md and docs/security.md name tests of all parts.
  ['unit', 'tests/e2e/cancel.spec.ts'],
  ['unit', 'tests/contract/billing.test.ts'],
  ['unit', 'tests/fault/alerts.test.ts'],
  ['unit', 'wordpress/newsroom/tests/adopt.test.ts'],
  // Imported by tests of the plugin.
  ['plugin', 'src/content/content.server.ts'],
])('%s runs again after a change of %s', (part, path) => {
  expect(isInput(part, path)).toBe(true);
});

it('types don’t run again after a change of a page of the documentation', () => {
  expect(isInput('types', 'docs/contributing.md')).toBe(false);
});
