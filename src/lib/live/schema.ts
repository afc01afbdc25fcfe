/** Live coverage: paths, ids, and texts that server and browser share. Browsers load this file. */
import { truncateAtWord } from '../text.ts';

/** Marks a story that is covered live. */
export const liveWord = 'Live';

/** The event stream of a story. */
export const streamPath = (story: number): string => `/live/${story}`;

/** Id of an entry's element. */
export const entryAnchor = (id: number | string): string => `entry-${id}`;

/** "1 new update", "3 new updates". */
export const newUpdates = (count: number): string => `${count} new update${count === 1 ? '' : 's'}`;

/** For a reader whose access has ended while the page was open. */
export const followingEnded =
  'New updates don’t appear here anymore. Reload the page to keep following; if you came by a gift link, open it again.';

/** Name of an entry without headline and text. */
export const untitledEntry = 'Update';

/** The title of a key event: the entry's headline, or the start of its text. @param text plain text */
export const keyEventTitle = (headline: string, text: string): string =>
  headline || truncateAtWord(text, 80) || untitledEntry;

/** Data of the event if there is no alert: browsers drop an event without data. */
export const noAlert = '-';

/** Events of the stream, by name. */
export const streamEvents = {
  /** The markup of an entry that is new or has changed. */
  entry: 'entry',
  /** The id of an entry that is gone. */
  gone: 'gone',
  /** The page may be out of date, so it fetches itself again. */
  sync: 'sync',
  /** The story isn't live any more. */
  end: 'end',
  /** The banner of the alert that pages show from now on, or {@link noAlert}. */
  alert: 'alert',
} as const;
