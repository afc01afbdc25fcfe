/**
 * An alert: one line of breaking news that an editor puts on every page for some hours. Not the front page's mark "breaking"
 * (`FeaturedStory.breaking`), which only labels the leading story.
 */

// What the server shares with the script of every page. The script loads this file, so nothing of the server is imported here.

/** The banner as a part of a page; empty while there is no alert. */
export const alertFragment = '/fragments/alert';

/** Storage key for the alert that the reader closed. */
export const closedKey = 'alert-closed';

/** What screen readers announce when a banner appears or disappears on an open page. */
export const alertWords = {
  news: (text: string): string => `Breaking news: ${text}`,
  withdrawn: 'The breaking news has been withdrawn.',
} as const;

export interface Alert {
  /** UUID that WordPress creates each time an editor publishes an alert. */
  readonly id: string;
  /** One line of plain text. */
  readonly text: string;
  /** Path of this site or full URL of its story; `null`: no link. */
  readonly href: string | null;
  /** UTC instants. */
  readonly starts: string;
  readonly until: string;
  /** Whether it is also sent to the readers who asked for it: by email, and as a notification of their browser. */
  readonly mail: boolean;
  readonly push: boolean;
}

/** Most characters of the text. */
export const longestAlert = 200;

/** Most hours for which an alert is shown. */
const mostHours = 48;

/** Whether an alert is shown. @param now epoch milliseconds */
export const isRunning = ({ starts, until }: Alert, now: number): boolean => {
  const end = Math.min(Date.parse(until), Date.parse(starts) + mostHours * 3_600_000);
  // WordPress's clock may be ahead of this one, so an alert is shown as soon as it is published.
  return now < end;
};

/**
 * The script of the banner, which runs before the page is painted: it removes an alert that the reader has closed or whose time is over,
 * and remembers one that is closed; the focus, which was in it, goes to the page. It reads everything from the markup, so that every
 * alert has the same script.
 */
export const alertScript = `{const a=document.currentScript.parentNode,d=a.querySelector('details'),k='${closedKey}',i=a.dataset.alert;try{(Date.now()>a.dataset.until||localStorage[k]==i)&&a.remove();d.ontoggle=()=>{d.open||(document.querySelector('main')?.focus({preventScroll:!0}),localStorage[k]=i)}}catch{}}`;

/** How an alert was sent, for the editor. */
export interface AlertReport {
  /** Id of the alert that the site shows; `null`: none. */
  readonly shown: string | null;
  readonly mail: DeliveryReport;
  readonly push: DeliveryReport;
}

export interface DeliveryReport {
  /**
   * `off`: the site can't send it. `none`: not requested, or not started. `refused`: nothing was sent, `detail` says why. `unclear`: the
   * vendor's response was lost, and a retry could send it twice.
   */
  readonly state: 'off' | 'none' | 'sending' | 'sent' | 'stopped' | 'refused' | 'unclear';
  /** Number of readers, if known. */
  readonly readers: number | null;
  /** Words for the editor; empty where there is nothing more to say. */
  readonly detail: string;
}

// The table of the notifications, made by `src/server/migrations/alerts.ts`.

export interface AlertPushesTable {
  /** Id of the alert: one row for each alert, so that only one notification is sent. */
  alert: string;
  /** `waiting`, `sent`, `refused`, `unclear` or `stopped`. */
  state: string;
  /** Why, in words for the editor. */
  detail: string;
  created: number;
  tries: number;
  /** Earliest time of the next try; while a process is sending, the time after which another process may try. */
  due: number;
}

export interface AlertTables {
  alert_pushes: AlertPushesTable;
}
