/** JSON texts. A file of its own, because every page loads it. */

/** The value of a JSON text; `undefined` when it isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
