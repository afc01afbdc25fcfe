/**
 * Sends a page's events to the measurement tools, each with the type of visitor and the page's description. While the session is
 * loading, nothing is sent (spec section 4); events from before are sent afterward.
 */
import type { PageFacts, TrackedEvent, VisitorType } from './model.ts';

/** An event's data besides its name: nothing personal, and no addresses. */
type Details = Readonly<Record<string, string | number | boolean | null>>;

interface Reported {
  readonly name: string;
  readonly details: Details;
}

/** Events are passed on through the document, so that code that reports one doesn't load the measurement code. */
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
  /** Sets the type of visitor; `null` while it is unknown. */
  visitor(type: VisitorType | null): void;
  /** Records an event. */
  event(name: string, details?: Details): void;
  /** Whether events are sent. Events while this is off are dropped. */
  allow(allowed: boolean): void;
}

export interface TrackerOptions {
  readonly page: PageFacts;
  readonly codes: Readonly<Record<VisitorType, number>>;
  readonly path: () => string;
  readonly send: (event: TrackedEvent) => void;
}

/** Most events that are stored while the type of visitor is unknown. */
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
