/** Makes the pictures of the edition, caches them, and puts them where WordPress expects uploads. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { renderArt } from './art/render.ts';
import type { PictureSpec } from './model.ts';

/** Width and height of a picture in pixels. */
const PICTURE = { width: 1600, height: 900 } as const;
const SQUARE = { width: 1400, height: 1400 } as const;

/** A picture in `uploads/`. */
export interface Picture {
  /** Path below `uploads/`, with slashes. */
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly alt: string;
  readonly caption: string;
  readonly credit: string;
}

export interface PictureOptions {
  /** Finished pictures are kept here, named by the hash of what they were made from. */
  readonly cache: string;
  readonly uploads: string;
  /** Folder below `uploads/`, such as `2026/11`. */
  readonly folder: string;
  readonly onProgress: (done: number, total: number) => void;
}

const ART = path.join(import.meta.dirname, 'art');
const AT_ONCE = 2;

/** One picture per spec, by its seed. */
export async function makePictures(specs: readonly PictureSpec[], options: PictureOptions): Promise<Map<string, Picture>> {
  const made = new Map<string, Picture>();
  fs.mkdirSync(options.cache, { recursive: true });
  fs.mkdirSync(path.join(options.uploads, options.folder), { recursive: true });
  const version = hashOfFolder(ART);
  const waiting = [...specs];
  let done = 0;
  const work = async () => {
    for (let spec = waiting.shift(); spec; spec = waiting.shift()) {
      const { motif, seed, alt, caption, credit, square } = spec;
      const size = square ? SQUARE : PICTURE;
      const request = { motif, seed, ...size };
      const hash = createHash('sha256').update(version).update(JSON.stringify(request)).digest('hex').slice(0, 32);
      const kept = path.join(options.cache, `${hash}.jpg`);
      if (!fs.existsSync(kept)) {
        const temporary = `${kept}.${process.pid}`;
        fs.writeFileSync(temporary, await renderArt(request));
        fs.renameSync(temporary, kept);
      }
      const file = `${options.folder}/${seed}.jpg`;
      fs.copyFileSync(kept, path.join(options.uploads, file));
      made.set(seed, { file, ...size, bytes: fs.statSync(kept).size, alt, caption, credit });
      options.onProgress(++done, specs.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return made;
}

function hashOfFolder(folder: string): string {
  const hash = createHash('sha256');
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && !entry.name.includes('.test.')) hash.update(fs.readFileSync(path.join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex');
}
