/**
 * Makes a connection that a server has accepted read into an existing buffer, as `new net.Socket({ onread })` does. Node otherwise
 * allocates 64 kB for each read, and the bytes pass through the connection's readable stream.
 *
 * `net.Server` has no such option, so this function does what the option does: it sets two properties whose names are symbols, and the
 * handle's buffer.
 */
import { Socket } from 'node:net';

/** Called with the number of bytes at the start of the buffer; returning `false` stops reading until `resume`. */
type OnRead = (this: Socket, count: number, buffer: Buffer) => boolean | undefined;

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

const symbols = Object.getOwnPropertySymbols(new Socket());
const symbolOf = (name: string): symbol | undefined => symbols.find(({ description }) => description === name);
const [bufferOf, onReadOf] = [symbolOf('kBuffer'), symbolOf('kBufferCb')];

/**
 * @param buffer shared by any number of connections: its bytes are valid until `onRead` returns
 * @returns `false` without a change: this version of Node has other internals, or bytes have already been read
 */
export function readInto(socket: Socket, buffer: Buffer, onRead: OnRead): boolean {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!bufferOf || !onReadOf || !handle?.useUserBuffer || socket.readableLength > 0) return false;
  Object.assign(socket, { [bufferOf]: buffer, [onReadOf]: onRead });
  // biome-ignore lint/correctness/useHookAtTopLevel: it is a method of Node, no hook of React
  handle.useUserBuffer(buffer);
  return true;
}

function intoStream(this: Socket, count: number, buffer: Buffer): boolean {
  return this.push(Buffer.from(buffer.subarray(0, count)));
}

/** Lets a connection of {@link readInto} pass its bytes on through its readable stream again. */
export function readIntoStream(socket: Socket): void {
  if (onReadOf) Object.assign(socket, { [onReadOf]: intoStream });
}
