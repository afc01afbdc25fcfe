/** Table of the popularity feature, made by `src/server/migrations/reading.ts`. */

export interface PopularityTable {
  article_id: number;
  /** The article's score, see scores.server.ts. */
  heat: number;
  /** Half-life under which `heat` was written, milliseconds. */
  half_life: number;
  /** All readings ever, undecayed. */
  total: number;
}

export interface PopularityTables {
  popularity: PopularityTable;
}
