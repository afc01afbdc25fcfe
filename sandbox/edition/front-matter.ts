/** Reads the texts of the demo edition: `key: value` lines between two lines of dashes, then Markdown. */

export interface MarkdownFile {
  /** Path or name for messages. */
  readonly source: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @throws with the source and the line that does not fit */
export function parseMarkdownFile(source: string, text: string): MarkdownFile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end < 0) throw new Error(`${source}: does not begin with front matter between lines of ---`);
  const fields: Record<string, string> = {};
  for (const line of lines.slice(1, end)) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(`${source}: "${line}" is not of the form key: value`);
    fields[line.slice(0, colon).trim()] = unquote(line.slice(colon + 1).trim());
  }
  return { source, fields, body: lines.slice(end + 1).join('\n').trim() };
}

/** A value may be enclosed in double quotes. */
const unquote = (value: string) => (/^"[^"]*"$/.test(value) ? value.slice(1, -1) : value);

/** The value of a required field. */
export function required(text: MarkdownFile, field: string): string {
  const value = text.fields[field];
  if (!value) throw new Error(`${text.source}: "${field}" is missing`);
  return value;
}

/** A number; `undefined` when the field is empty. */
export function numberIn(text: MarkdownFile, field: string): number | undefined {
  const value = text.fields[field];
  if (!value) return undefined;
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`${text.source}: "${field}" is "${value}", not a number`);
  return number;
}

/** The parts of a list, without the empty ones. */
export const listIn = (text: MarkdownFile, field: string, separator = ','): string[] =>
  (text.fields[field] ?? '')
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Whether a field says `true` or `yes`. */
export const flagIn = (text: MarkdownFile, field: string): boolean => /^(true|yes|1)$/i.test(text.fields[field] ?? '');
