/**
 * Fields of a form, declared once in a feature's schema.ts: the page and the island render them, the route reads and checks them. This
 * module imports nothing, because browsers load it.
 */

export interface Field {
  readonly label: string;
  /** `lines` is a text of several lines. */
  readonly kind?: 'text' | 'email' | 'tel' | 'lines';
  readonly autoComplete?: string;
  /** Takes half the width if there is room for two fields. */
  readonly half?: true;
  /** Longest value, in UTF-16 code units, as `maxlength` counts. */
  readonly longest: number;
  /** Message for an empty value; without it, the field is optional. */
  readonly missing?: string;
  /** The error of a value that is not empty; `null` when it is valid. */
  readonly check?: (value: string) => string | null;
}

export type Fields<Name extends string> = Readonly<Record<Name, Field>>;
export type Values<Name extends string> = Readonly<Record<Name, string>>;
export type FieldErrors<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/**
 * Besides its fields, a form may have a field that is hidden from people (`honeypot`) and the encrypted time at which it was rendered
 * (`stamp`).
 */
export const hiddenFields = { honeypot: 'website', stamp: 'stamp' } as const;

/** Names of the fields, in the order of the form. */
export const fieldNames = <Name extends string>(fields: Fields<Name>): readonly Name[] => Object.keys(fields) as Name[];

const tooLong = (most: number): string => `Please use at most ${most.toLocaleString('en-US')} characters.`;

/**
 * Reads and cleans the fields: one line each without control characters; `lines` keeps its line breaks and tabs.
 *
 * @param read a posted value by its name; anything but a string counts as empty
 */
export function readFields<Name extends string>(fields: Fields<Name>, read: (name: Name) => unknown): Values<Name> {
  const values = fieldNames(fields).map((name) => {
    const value = read(name);
    const text = typeof value === 'string' ? value : '';
    const clean =
      fields[name].kind === 'lines'
        ? text.replace(/\r\n?/gu, '\n').replace(/[^\P{Cc}\n\t]/gu, '')
        : text.replace(/[\s\p{Cc}]+/gu, ' ');
    return [name, clean.trim()];
  });
  return Object.fromEntries(values) as Values<Name>;
}

/** The errors by field; empty when all values are valid. */
export function checkFields<Name extends string>(fields: Fields<Name>, values: Values<Name>): FieldErrors<Name> {
  const errors: Partial<Record<Name, string>> = {};
  for (const name of fieldNames(fields)) {
    const { missing, longest, check } = fields[name];
    const value = values[name];
    let error: string | null | undefined = null;
    if (value === '') error = missing;
    else if (value.length > longest) error = tooLong(longest);
    else error = check?.(value);
    if (error) errors[name] = error;
  }
  return errors;
}
