/** Request bodies: JSON of bounded length and depth, and forms. */
import { type Answer, refuse } from './answer.ts';

/** Longest body unless a route says otherwise, bytes. */
export const usualLimit = 16 * 1024;
/** Deepest nesting of a body. */
const deepest = 16;

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: Answer };

/**
 * Reads a body as JSON. An empty one is `{}`: calls such as /blaize/logout may be made without.
 *
 * @returns a refusal of 413, 415 or 400 for what is none
 */
export async function readJson(request: Request, limit: number = usualLimit): Promise<Read<unknown>> {
  const type = request.headers.get('content-type');
  const bytes = Buffer.from(await request.arrayBuffer());
  if (bytes.byteLength === 0 && type === null) return { ok: true, value: {} };
  // Only a script may send this type to another site, and only after asking first.
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? '')) {
    return { ok: false, answer: refuse(415, 'This address takes JSON. Send Content-Type: application/json.') };
  }
  if (bytes.byteLength > limit) return { ok: false, answer: refuse(413, 'The request is too long.') };
  if (bytes.byteLength === 0) return { ok: true, value: {} };
  const text = bytes.toString('utf8');
  if (depth(text) > deepest) return { ok: false, answer: refuse(400, 'The request is nested too deeply.') };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, answer: refuse(400, 'The request is not JSON.') };
  }
}

/** Deepest nesting of brackets outside of strings. */
function depth(text: string): number {
  let now = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === '\\') at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === '{' || sign === '[') most = Math.max(most, ++now);
    else if (sign === '}' || sign === ']') now--;
  }
  return most;
}

/** A posted form; several values of a name stay several. `null`: it is no form, or too long. */
export async function readForm(request: Request, limit: number = usualLimit): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers.get('content-type') ?? '')) return null;
  const bytes = Buffer.from(await request.arrayBuffer());
  return bytes.byteLength > limit ? null : new URLSearchParams(bytes.toString('utf8'));
}
