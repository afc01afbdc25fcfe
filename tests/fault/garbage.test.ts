/**
 * A rendered page leaves no garbage behind: memory that stays until the old generation is collected would later delay a publish.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a rendered page leaves less than a tenth of its bytes in memory after young-generation collections', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'garbage-'));
  try {
    const script = join(import.meta.dirname, 'fixtures', 'garbage.ts');
    const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
    const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production' };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, folder], { env });
    const { bytes, left, leftAtLast } = JSON.parse(stdout) as { bytes: number; left: number; leftAtLast: number };
    expect(bytes).toBeGreaterThan(10_000);
    expect(left).toBeLessThan(bytes / 10);
    expect(leftAtLast).toBeLessThan(bytes / 10);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
