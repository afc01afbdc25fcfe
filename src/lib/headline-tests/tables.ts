/** Tables of headline tests, made by `src/server/migrations/headline-tests.ts`. They hold no reader and no group. */

export interface HeadlineReadingsTable {
  /** Id of the test. */
  test: string;
  /** Number of the headline, 0 for the story's own. */
  headline: number;
  readings: number;
  /** Of the last reading. */
  at: number;
}

export interface HeadlineEndsTable {
  /** Id of the test: it ends once. */
  test: string;
  /** Number of the headline that won; `null`: none did in time. */
  headline: number | null;
  /** Readings of each headline at the end, as JSON. */
  readings: string;
  at: number;
}

export interface HeadlineTestTables {
  headline_readings: HeadlineReadingsTable;
  headline_ends: HeadlineEndsTable;
}
