/** Plain text that pages may print: no control characters, and no characters that reorder the text around it. */

// Bidirectional embeddings, overrides and isolates can make a headline read as something else, or affect the text after it. The marks
// LRM and RLM stay, because right-to-left text needs them.
const reordering = /[\u202a-\u202e\u2066-\u2069]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u2060-\u2064\ufeff\ufff9-\ufffb]/gu;

/** One line of text. */
export function cleanLine(text: string): string {
  return text
    .toWellFormed()
    .replace(controls, '')
    .replace(reordering, '')
    .replace(/[\s\u2028\u2029]+/gu, ' ')
    .trim();
}

/** Several lines of text, without empty ones. */
export function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/u)
    .map(cleanLine)
    .filter((line) => line !== '')
    .join('\n');
}

const rtl = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud83b[\udc00-\udfff]/u;

/** Whether text has right-to-left letters. */
export const hasRightToLeft = (text: string): boolean => rtl.test(text);
