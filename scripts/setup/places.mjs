/** Paths of the repository and of what is downloaded into it. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Folder of downloads, caches and locks: Node, WordPress, a browser. It can be deleted at any time. */
export const downloads = join(root, '.broadsheet');
