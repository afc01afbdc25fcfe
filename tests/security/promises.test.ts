/** docs/security.md names a test for each promise: each of them must exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../scripts/setup/places.mjs';

const text = readFileSync(join(root, 'docs', 'security.md'), 'utf8');
const rows = [...text.matchAll(/^\|[^|]+\|[^|]+\| `([^`]+)`(?: › ([^|]+?))? \|$/gm)].map(([, file = '', title]) => ({
  file,
  title,
}));

describe('the promises of docs/security.md', () => {
  it('each name a test', () => {
    const promises = text.split('\n').filter((line) => /^\| (?!promise)/.test(line));
    expect(promises.length).toBeGreaterThan(20);
    expect(rows).toHaveLength(promises.length);
  });

  it.each(rows.map(({ file, title }) => [title === undefined ? file : `${file} › ${title}`, file, title] as const))(
    'name a test that exists: %s',
    (_, file, title) => {
      expect(existsSync(join(root, file))).toBe(true);
      if (title !== undefined) expect(readFileSync(join(root, file), 'utf8')).toContain(title);
    },
  );
});
