/**
 * PHP's compiled code, stored between starts and shared by the instances. Compiling what a page of WordPress loads takes
 * more than a second; reading it back costs a few milliseconds, but only from memory.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { MountHandler, PHP } from '@php-wasm/universal';
import { mountFileSet } from './core-files.ts';

/** Where the runtime makes PHP store compiled code. */
export const COMPILED = '/internal/shared/opcache';

export interface CompiledCode {
  readonly mount: MountHandler;
  /** Collects what an instance has compiled since the last call. */
  collect(php: PHP): void;
  /** Writes what was collected to disk. Several processes may share the folder. */
  save(): void;
}

/** @param folder may be deleted at any time */
export function openCompiledCode(folder: string): CompiledCode {
  fs.mkdirSync(folder, { recursive: true });
  const code = new Map<string, Uint8Array>();
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.bin')) continue;
    const file = path.join(entry.parentPath, entry.name);
    code.set(path.relative(folder, file).replaceAll(path.sep, '/'), fs.readFileSync(file));
  }
  const unsaved = new Set<string>();

  const visit = (php: PHP, below: string) => {
    for (const name of php.listFiles(`${COMPILED}${below}`)) {
      const file = `${below}/${name}`;
      if (php.isDir(`${COMPILED}${file}`)) visit(php, file);
      else if (name.endsWith('.bin') && !code.has(file.slice(1))) {
        code.set(file.slice(1), php.readFileAsBuffer(`${COMPILED}${file}`));
        unsaved.add(file.slice(1));
      }
    }
  };
  return {
    mount: (...where) => mountFileSet(code)(...where),
    collect: (php) => visit(php, ''),
    save() {
      for (const name of unsaved) {
        const file = path.join(folder, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        // PHP verifies a checksum of each file and compiles again if it doesn't match, so a torn file does no harm.
        fs.writeFileSync(`${file}.${process.pid}`, code.get(name) ?? '');
        fs.renameSync(`${file}.${process.pid}`, file);
      }
      unsaved.clear();
    },
  };
}
