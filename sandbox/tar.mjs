// Just enough of tar to take one folder out of an npm package while it streams by.
import fs from 'node:fs';
import path from 'node:path';
import { createGunzip } from 'node:zlib';

const BLOCK = 512;

/**
 * Writes the files below some folders of a `.tgz` to disk.
 * @param {string} archive
 * @param {ReadonlyArray<{from: string, to: string}>} wanted `from` ends with a slash and names a folder of the archive
 * @param {(bytes: number) => void} [onRead] called with the number of unpacked bytes seen so far
 * @returns {Promise<number>} how many files were written
 */
export async function extractFolders(archive, wanted, onRead = () => {}) {
  const source = fs.createReadStream(archive);
  const unzipped = source.pipe(createGunzip());
  source.on('error', (error) => unzipped.destroy(error));

  let pending = Buffer.alloc(0);
  let files = 0;
  let seen = 0;
  /** @type {{left: number, padding: number, write: ((data: Buffer) => void) | undefined, end: () => void} | undefined} */
  let entry;
  /** Attributes of the next entry from a pax header. */
  let pax = new Map();

  for await (const chunk of unzipped) {
    seen += chunk.length;
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    for (;;) {
      if (entry) {
        const data = pending.subarray(0, entry.left);
        if (data.length > 0) entry.write?.(data);
        entry.left -= data.length;
        pending = pending.subarray(data.length);
        if (entry.left > 0) break;
        if (pending.length < entry.padding) break;
        pending = pending.subarray(entry.padding);
        entry.end();
        entry = undefined;
      }
      if (pending.length < BLOCK) break;
      const header = pending.subarray(0, BLOCK);
      pending = pending.subarray(BLOCK);
      if (header.every((byte) => byte === 0)) continue;
      entry = open(header);
    }
    onRead(seen);
  }
  if (entry) throw new Error(`${path.basename(archive)} ends in the middle of a file`);
  return files;

  /** @param {Buffer} header */
  function open(header) {
    const text = (/** @type {number} */ at, /** @type {number} */ length) =>
      header.toString('utf8', at, at + length).replace(/\0.*$/s, '');
    const type = String.fromCharCode(header[156] || 48);
    const size = Number(pax.get('size') ?? Number.parseInt(text(124, 12), 8));
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (type === 'x' || type === 'g') {
      /** @type {Buffer[]} */
      const parts = [];
      return {
        left: size,
        padding,
        write: (/** @type {Buffer} */ data) => void parts.push(Buffer.from(data)),
        end: () => {
          if (type === 'x') pax = readPax(Buffer.concat(parts));
        },
      };
    }
    const prefix = text(345, 155);
    const name = pax.get('path') ?? (prefix ? `${prefix}/${text(0, 100)}` : text(0, 100));
    pax = new Map();
    const rule = type === '0' ? wanted.find(({ from }) => name.startsWith(from)) : undefined;
    if (!rule) return { left: size, padding, write: undefined, end: () => {} };
    const target = path.resolve(rule.to, name.slice(rule.from.length));
    if (!target.startsWith(path.resolve(rule.to) + path.sep)) throw new Error(`${name} leads out of its folder`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    const descriptor = fs.openSync(target, 'w', 0o644);
    files += 1;
    return {
      left: size,
      padding,
      write: (/** @type {Buffer} */ data) => void fs.writeSync(descriptor, data),
      end: () => fs.closeSync(descriptor),
    };
  }
}

/**
 * Records of the form "<length> <key>=<value>\n"; the length counts bytes and includes itself.
 * @param {Buffer} data
 */
function readPax(data) {
  const found = new Map();
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const length = Number(data.toString('latin1', at, space));
    if (!(length > 0)) break;
    const record = data.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    found.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return found;
}
