/** Makes the recordings of the edition and puts them where WordPress expects uploads. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Document } from './model.ts';
import { recording } from './speech.ts';

/** A recording in `uploads/`. */
interface Recording {
  /** Path below `uploads/`, with slashes. */
  readonly file: string;
  readonly type: 'audio/wav';
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * One recording for each story with a sound, by the story's slug.
 *
 * @param folder below `uploads/`, such as `2026/11`
 */
export function makeRecordings(documents: readonly Document[], uploads: string, folder: string): Map<string, Recording> {
  const made = new Map<string, Recording>();
  for (const { slug, sound } of documents) {
    if (!sound) continue;
    const wav = recording(slug, sound.seconds);
    // Named as the plugin names audio files: knowing the address is enough to open a paid recording.
    const file = `${folder}/${slug}-${randomBytes(10).toString('hex')}.wav`;
    fs.writeFileSync(path.join(uploads, file), wav);
    made.set(slug, { file, type: 'audio/wav', bytes: wav.byteLength, seconds: sound.seconds });
  }
  return made;
}
