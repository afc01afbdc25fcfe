/**
 * How the rest of the house tells measurement that something has happened. It costs an event that nobody hears as long as nothing is
 * measured: neither without a tool, nor without the reader's consent.
 */
const channel = 'broadsheet:track';

interface Told {
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** @param details nothing personal, and no addresses */
export function track(name: string, details: Readonly<Record<string, unknown>> = {}): void {
  document.dispatchEvent(new CustomEvent<Told>(channel, { detail: { name, details } }));
}

/** Hears what is told from now on. */
export function onTrack(hear: (name: string, details: Readonly<Record<string, unknown>>) => void): void {
  document.addEventListener(channel, (event) => {
    const { name, details } = (event as CustomEvent<Told>).detail;
    hear(name, details);
  });
}
