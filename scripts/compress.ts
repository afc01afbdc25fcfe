/** Compresses static files in advance: at build time, at the highest level, next to the originals. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);
const textual = /\.(?:css|dict|html|js|json|map|mjs|svg|txt|webmanifest|xml)$/;

/**
 * Writes `.br` and `.gz` next to every text file of a folder, where that saves at least a tenth.
 *
 * @returns number of files compressed
 */
export async function compressFolder(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  let count = 0;
  for (const file of files) {
    if (!file.isFile() || !textual.test(file.name)) continue;
    const path = join(file.parentPath, file.name);
    const plain = await readFile(path);
    if (plain.byteLength < 512) continue;
    const [br, zipped] = await Promise.all([
      brotli(plain, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.byteLength },
      }),
      gz(plain, { level: 9 }),
    ]);
    if (br.byteLength > plain.byteLength * 0.9) continue;
    await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, zipped)]);
    count += 1;
  }
  return count;
}
