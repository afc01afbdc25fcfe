/**
 * Sends measurement what happens on a page: each event with the type of visitor and what the page is. While the session is loading,
 * nothing is sent (spec section 4); events of that time are sent afterwards.
 */
import type { PageFacts, TrackedEvent, VisitorType } from './model.ts';

/** What an event says besides its name: nothing personal, and no addresses. */
type Details = Readonly<Record<string, string | number | boolean | null>>;

interface Reported {
  readonly name: string;
  readonly details: Details;
}

/** An event of the document, so that code which reports one loads no code of measurement. */
const channel = 'broadsheet:track';

export function track(name: string, details: Details = {}): void {
  document.dispatchEvent(new CustomEvent<Reported>(channel, { detail: { name, details } }));
}

/** Calls `listener` for each `track` from now on. */
export function onTrack(listener: (name: string, details: Details) => void): void {
  document.addEventListener(channel, (event) => {
    const { name, details } = (event as CustomEvent<Reported>).detail;
    listener(name, details);
  });
}

export interface Tracker {
  /** Who is reading; `null` while that is not known. */
  visitor(type: VisitorType | null): void;
  /** Something happened. */
  event(name: string, details?: Details): void;
  /** Whether anything is sent. What happens while it is not is forgotten. */
  allow(allowed: boolean): void;
}

export interface TrackerOptions {
  readonly page: PageFacts;
  readonly codes: Readonly<Record<VisitorType, number>>;
  readonly path: () => string;
  readonly send: (event: TrackedEvent) => void;
}

/** Kept while it is not known who is reading; more is not. */
const mostKept = 50;

export function createTracker({ page, codes, path, send }: TrackerOptions): Tracker {
  let type: VisitorType | null = null;
  let allowed = false;
  let waiting: { name: string; details: Details; path: string }[] = [];

  const flush = () => {
    if (type === null) return;
    const now = waiting;
    waiting = [];
    for (const { name, details, path: at } of now)
      send({
        ...details,
        event: name,
        visitor_type: type,
        visitor_code: codes[type],
        page_path: at,
        page_kind: page.kind,
        article: page.article,
      });
  };
  return {
    visitor(next) {
      type = next;
      flush();
    },
    event(name, details = {}) {
      if (!allowed || waiting.length >= mostKept) return;
      waiting.push({ name, details, path: path() });
      flush();
    },
    allow(next) {
      allowed = next;
      if (!next) waiting = [];
    },
  };
}
