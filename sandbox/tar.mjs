// Just enough of tar to extract one folder from an npm package as a stream.
import fs from 'node:fs';
import path from 'node:path';
import { createGunzip } from 'node:zlib';

const BLOCK = 512;

/**
 * @typedef {object} Entry a file or header that is being read
 * @property {number} left bytes that are still to come
 * @property {number} padding bytes between its end and the next block
 * @property {((data: Buffer) => void) | undefined} write
 * @property {() => void} end
 */

/**
 * @typedef {object} State
 * @property {ReadonlyArray<{from: string, to: string}>} wanted
 * @property {Buffer} pending bytes that have not been read
 * @property {Entry | undefined} entry
 * @property {Map<string, string>} pax attributes of the next entry from a pax header
 * @property {number} files
 */

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
  /** @type {State} */
  const state = { wanted, pending: Buffer.alloc(0), entry: undefined, pax: new Map(), files: 0 };
  let seen = 0;
  for await (const chunk of unzipped) {
    seen += chunk.length;
    state.pending = state.pending.length > 0 ? Buffer.concat([state.pending, chunk]) : chunk;
    readEntries(state);
    onRead(seen);
  }
  if (state.entry) throw new Error(`${path.basename(archive)} ends in the middle of a file`);
  return state.files;
}

/**
 * Reads as many entries as the pending bytes contain.
 * @param {State} state
 */
function readEntries(state) {
  for (;;) {
    if (state.entry && !finish(state, state.entry)) return;
    if (state.pending.length < BLOCK) return;
    const header = state.pending.subarray(0, BLOCK);
    state.pending = state.pending.subarray(BLOCK);
    if (header.some((byte) => byte !== 0)) state.entry = open(state, header);
  }
}

/**
 * @param {State} state
 * @param {Entry} entry
 * @returns whether all of the entry has been read
 */
function finish(state, entry) {
  const data = state.pending.subarray(0, entry.left);
  if (data.length > 0) entry.write?.(data);
  entry.left -= data.length;
  state.pending = state.pending.subarray(data.length);
  if (entry.left > 0 || state.pending.length < entry.padding) return false;
  state.pending = state.pending.subarray(entry.padding);
  entry.end();
  state.entry = undefined;
  return true;
}

/**
 * @param {State} state
 * @param {Buffer} header
 * @returns {Entry}
 */
function open(state, header) {
  const text = (/** @type {number} */ at, /** @type {number} */ length) =>
    header.toString('utf8', at, at + length).replace(/\0.*$/s, '');
  const type = String.fromCharCode(header[156] || 48);
  const left = Number(state.pax.get('size') ?? Number.parseInt(text(124, 12), 8));
  const padding = (BLOCK - (left % BLOCK)) % BLOCK;
  if (type === 'x' || type === 'g') {
    /** @type {Buffer[]} */
    const parts = [];
    return {
      left,
      padding,
      write: (data) => void parts.push(Buffer.from(data)),
      end: () => {
        if (type === 'x') state.pax = readPax(Buffer.concat(parts));
      },
    };
  }
  const prefix = text(345, 155);
  const name = state.pax.get('path') ?? (prefix ? `${prefix}/${text(0, 100)}` : text(0, 100));
  state.pax = new Map();
  const rule = type === '0' ? state.wanted.find(({ from }) => name.startsWith(from)) : undefined;
  if (!rule) return { left, padding, write: undefined, end: () => {} };
  const descriptor = create(rule, name);
  state.files += 1;
  return {
    left,
    padding,
    write: (data) => void fs.writeSync(descriptor, data),
    end: () => fs.closeSync(descriptor),
  };
}

/**
 * @param {{from: string, to: string}} rule
 * @param {string} name
 * @returns {number} descriptor of the new file
 */
function create({ from, to }, name) {
  const target = path.resolve(to, name.slice(from.length));
  if (!target.startsWith(path.resolve(to) + path.sep)) throw new Error(`${name} leads out of its folder`);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  return fs.openSync(target, 'w', 0o644);
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
