/**
 * WordPress's own files in memory, read once and shared by every PHP instance.
 *
 * A request loads about 540 PHP files. From memory that costs nothing; through the file system of the machine it costs
 * thousands of system calls. Every instance sees the same buffers, so a second instance costs no second copy.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Emscripten, MountHandler } from '@php-wasm/universal';

/** Path below the root (POSIX separators) to content. */
export type FileSet = ReadonlyMap<string, Uint8Array>;

/** Files that only browsers ask for; the web server reads them from disk. */
const BROWSER_ONLY = /\.(?:png|jpe?g|gif|webp|woff2?|ttf|eot|scss|map)$/;
/** Scripts of this size and above are never printed into a page by PHP. */
const LARGE_SCRIPT_BYTES = 64 * 1024;

/** The modification time of every file in memory, in milliseconds; the files of a WordPress release never change. */
const WRITTEN_AT = Date.UTC(2020, 0, 1);

/** Reads every file below `folder` that PHP itself may open. */
export function readFileSet(folder: string): FileSet {
  const files = new Map<string, Uint8Array>();
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || BROWSER_ONLY.test(entry.name)) continue;
    const source = path.join(entry.parentPath, entry.name);
    if (entry.name.endsWith('.js') && fs.statSync(source).size >= LARGE_SCRIPT_BYTES) continue;
    files.set(path.relative(folder, source).replaceAll(path.sep, '/'), fs.readFileSync(source));
  }
  return files;
}

/**
 * Mounts a file set below a folder of one PHP instance without copying the contents. PHP replaces a file's buffer when
 * it writes, and the core is never written to, so sharing is safe.
 */
export function mountFileSet(files: FileSet): MountHandler {
  return (_php, FS: Emscripten.RootFS, mountPoint) => {
    FS.mkdirTree(mountPoint);
    FS.mount(FS.filesystems.MEMFS as unknown as Emscripten.FileSystemType, {}, mountPoint);
    const folders = new Set<string>();
    for (const [name, content] of files) {
      const target = `${mountPoint}/${name}`;
      const folder = target.slice(0, target.lastIndexOf('/'));
      if (!folders.has(folder)) {
        FS.mkdirTree(folder);
        folders.add(folder);
      }
      FS.writeFile(target, content, { canOwn: true } as never);
      // Compiled code is kept on disk and trusted as long as the source has the same modification time.
      FS.utime(target, WRITTEN_AT, WRITTEN_AT);
    }
    return () => {
      FS.unmount(mountPoint);
    };
  };
}
