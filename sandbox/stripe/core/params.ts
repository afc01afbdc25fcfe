/** Parameters as the SDK sends them: forms whose names have brackets. Values are text; an empty value unsets a field. */
import { invalid, missing } from './errors.ts';
import type { Metadata } from './model.ts';

export type Fields = { [name: string]: string | Fields };

/** `a[b]=1&c[]=2&c[]=3` → `{a: {b: '1'}, c: {0: '2', 1: '3'}}`. */
export function parseForm(text: string): Fields {
  const fields: Fields = Object.create(null) as Fields;
  for (const [name, value] of new URLSearchParams(text)) {
    const parts = [name.split('[', 1)[0] ?? '', ...[...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '')];
    let here = fields;
    parts.forEach((part, index) => {
      const key = part === '' ? String(Object.keys(here).length) : part;
      if (index === parts.length - 1) {
        here[key] = value;
        return;
      }
      const next = here[key];
      if (typeof next === 'object') {
        here = next;
        return;
      }
      const made = Object.create(null) as Fields;
      here[key] = made;
      here = made;
    });
  }
  return fields;
}

/** Reads parameters by name. A parameter that no code has read by the end of a call is unknown. */
export class Params {
  readonly #fields: Fields;
  readonly #path: string;
  readonly #read = new Set<string>();
  readonly #inner: Params[] = [];

  constructor(fields: Fields, path = '') {
    this.#fields = fields;
    this.#path = path;
  }

  name(key: string): string {
    return this.#path ? `${this.#path}[${key}]` : key;
  }

  keys(): string[] {
    return Object.keys(this.#fields);
  }

  has(key: string): boolean {
    return this.#fields[key] !== undefined;
  }

  /** Accepts these parameters and ignores them. */
  allow(...keys: string[]): this {
    for (const key of keys) this.#read.add(key);
    return this;
  }

  /** `undefined` when absent, `null` to unset the field. */
  text(key: string): string | null | undefined {
    this.#read.add(key);
    const value = this.#fields[key];
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw invalid(`Invalid string: ${JSON.stringify(value)}`, this.name(key));
    return value === '' ? null : value;
  }

  need(key: string): string {
    const value = this.text(key);
    if (!value) throw missing(this.name(key));
    return value;
  }

  int(key: string): number | null | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return value;
    if (!/^-?\d+$/.test(value)) throw invalid(`Invalid integer: ${value}`, this.name(key), 'parameter_invalid_integer');
    return Number(value);
  }

  number(key: string): number | null | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return value;
    if (!Number.isFinite(Number(value))) throw invalid(`Invalid decimal: ${value}`, this.name(key));
    return Number(value);
  }

  bool(key: string): boolean | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    if (value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, this.name(key));
    return value === 'true';
  }

  one<T extends string>(key: string, options: readonly T[]): T | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    if (!options.includes(value as T)) {
      throw invalid(
        `Invalid ${this.name(key)}: must be one of ${options.slice(0, -1).join(', ')}${options.length > 1 ? ', or ' : ''}${options.at(-1)}`,
        this.name(key),
      );
    }
    return value as T;
  }

  object(key: string): Params | null | undefined {
    this.#read.add(key);
    const value = this.#fields[key];
    if (value === undefined) return undefined;
    if (value === '') return null;
    if (typeof value === 'string') throw invalid('Invalid object', this.name(key));
    const inner = new Params(value, this.name(key));
    this.#inner.push(inner);
    return inner;
  }

  /** The members of a list; `null` to empty it. */
  list(key: string): Params[] | null | undefined {
    const list = this.object(key);
    if (!list) return list;
    return list.keys().flatMap((member) => list.object(member) ?? []);
  }

  texts(key: string): string[] | undefined {
    const value = this.#fields[key];
    if (typeof value === 'string') {
      this.#read.add(key);
      return value === '' ? [] : [value];
    }
    const list = this.object(key);
    return list?.keys().map((member) => list.need(member));
  }

  /** The raw value, text or nested. */
  raw(key: string): string | Fields | undefined {
    this.#read.add(key);
    return this.#fields[key];
  }

  /** The previous metadata with the requested changes: an empty value removes a key, an empty object all of them. */
  metadata(before: Metadata = {}, key = 'metadata'): Metadata {
    this.#read.add(key);
    const given = this.#fields[key];
    if (given === undefined) return before;
    if (typeof given === 'string') return {};
    const after = { ...before };
    for (const [name, value] of Object.entries(given)) {
      if (typeof value !== 'string') throw invalid('Metadata values must be strings.', this.name(key));
      if (value === '') delete after[name];
      else after[name] = value;
    }
    // docs.stripe.com/metadata: 50 keys for the object, not for one call.
    const count = Object.keys(after).length;
    if (count > 50) throw invalid(`You can specify up to 50 metadata keys. You specified ${count}.`, this.name(key));
    return after;
  }

  /** @throws {ApiError} 400 for a parameter that was not read */
  finish(): void {
    const unknown = this.keys().find((key) => !this.#read.has(key));
    if (unknown !== undefined) {
      throw invalid(`Received unknown parameter: ${this.name(unknown)}`, this.name(unknown), 'parameter_unknown');
    }
    for (const inner of this.#inner) inner.finish();
  }
}
