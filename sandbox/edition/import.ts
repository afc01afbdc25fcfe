/** Imports an edition into an empty WordPress, completely or not at all. */
import path from 'node:path';
import type { RunningWordPress } from '../wordpress/boot.ts';
import { phpFile } from '../wordpress/prepare.ts';
import { makePictures } from './pictures.ts';
import { picturesWithin, withAddresses } from './placeholders.ts';
import type { EditionKind } from './model.ts';
import { readEdition } from './read.ts';
import { makeRecordings } from './recordings.ts';

export interface ImportOptions {
  readonly wordpress: RunningWordPress;
  readonly kind: Exclude<EditionKind, 'none'>;
  /** The sandbox's data folder. */
  readonly data: string;
  /** Folder for finished pictures. */
  readonly artCache: string;
  readonly onProgress: (progress: { progress: string; done?: number; total?: number }) => void;
}

/**
 * Imports the edition unless this WordPress has one. Everything is written in one transaction, together with the mark of a
 * finished import: an interrupted import leaves nothing behind and starts again.
 *
 * @returns whether it imported
 * @throws when a file of the edition is invalid, or WordPress refuses one
 */
export async function importEdition(options: ImportOptions): Promise<boolean> {
  const { wordpress, kind, data, artCache, onProgress } = options;
  if ((await wordpress.run("echo get_option( 'sandbox_edition' ) ? 'yes' : 'no';")) === 'yes') return false;
  const edition = readEdition(wordpress.url, kind);
  const now = new Date();
  const folder = `${now.getUTCFullYear()}/${String(now.getUTCMonth() + 1).padStart(2, '0')}`;
  const pictures = await makePictures(
    [...edition.documents.flatMap(({ picture }) => picture ?? []), ...picturesWithin(edition.documents.map(({ content }) => content))],
    {
      cache: artCache,
      uploads: path.join(data, 'uploads'),
      folder,
      onProgress: (done, total) => onProgress({ progress: 'Drawing the pictures', done, total }),
    },
  );
  const recordings = makeRecordings(edition.documents, path.join(data, 'uploads'), folder);
  const addressOf = (seed: string) => `${wordpress.url}/wp-content/uploads/${pictures.get(seed)?.file ?? ''}`;
  onProgress({ progress: `Importing the edition: ${edition.documents.length} documents` });
  await wordpress.run(phpFile(path.join(import.meta.dirname, 'php'), 'import.php'), {
    ...edition,
    documents: edition.documents.map(({ picture, ...document }) => ({
      ...document,
      content: withAddresses(document.content, addressOf),
      picture: (picture && pictures.get(picture.seed)) ?? null,
      recording: recordings.get(document.slug) ?? null,
    })),
    now: Math.floor(now.getTime() / 1000),
  });
  return true;
}
