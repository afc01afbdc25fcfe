/** Addresses as they stand in the headers of a message. What holds a line break or would need guessing is no address. */

export interface Sender {
  /** Shown beside the address; may be empty. */
  readonly name: string;
  readonly address: string;
}

/** Everything below the space, DEL, and the signs by which lines end elsewhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u;

/** One bare address: no name, no list, no quotes, no comments, no white space. */
export function isAddress(text: string): boolean {
  return (
    text.length <= 254 &&
    !control.test(text) &&
    /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,253}$/u.test(text) &&
    !/^\.|\.@|\.\.|@\.|@-|\.$/u.test(text)
  );
}

/** Reads `The Sun <news@example.com>` or `news@example.com`; `null` when it is neither. */
export function readSender(text: string): Sender | null {
  const match = /^(?:([^<>]*?)\s*<([^<>]+)>|([^<>]+))$/u.exec(text.trim());
  const name = (match?.[1] ?? '').replace(/^"(.*)"$/u, '$1').trim();
  const address = (match?.[2] ?? match?.[3] ?? '').trim();
  return isAddress(address) && !control.test(name) ? { name, address } : null;
}

/** Text that may stand in a header: one line, whatever was in it. */
export const oneLine = (text: string): string => text.replace(new RegExp(`${control.source}+`, 'gu'), ' ').trim();
