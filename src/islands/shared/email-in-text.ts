/** An address within a message, so that it can be shown as something to click (spec section 5). */

export interface TextWithEmail {
  readonly before: string;
  /** `null` where the text has none. */
  readonly email: string | null;
  readonly after: string;
}

const address = /[^\s<>()[\]",;:“”„«»]+@[^\s<>()[\]",;:@“”„«»]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/u;

/** Stands in messages for what an address looks like; nobody means to take it. */
const example = 'name@example.com';

/** Splits a message at the first address in it; punctuation behind the address stays with the text. */
export function emailInText(text: string): TextWithEmail {
  const found = address.exec(text);
  if (!found || found[0] === example) return { before: text, email: null, after: '' };
  const [email] = found;
  return { before: text.slice(0, found.index), email, after: text.slice(found.index + email.length) };
}
