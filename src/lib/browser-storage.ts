/** The browser's storage, which may be full, blocked or missing. Then nothing is stored, and nothing throws. */
import { parseJson } from './json.ts';

type Area = 'localStorage' | 'sessionStorage';

/** @returns `null` when nothing is stored under this name */
export function readStored(name: string, area: Area = 'localStorage'): string | null {
  try {
    return globalThis[area].getItem(name);
  } catch {
    return null;
  }
}

/** As {@link readStored}, parsed; `null` for anything that isn't JSON. */
export function readStoredJson(name: string, area?: Area): unknown {
  return parseJson(readStored(name, area) ?? 'null') ?? null;
}

/** @param value `null` removes the entry @returns whether it was stored */
export function writeStored(name: string, value: string | null, area: Area = 'localStorage'): boolean {
  try {
    if (value === null) globalThis[area].removeItem(name);
    else globalThis[area].setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

/** Names of the entries in local storage. */
export function storedNames(): readonly string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}
