/** What a reader keeps for later, and what the reader has read, as routes see it. */

export interface LibraryRules {
  /** Articles that one reader may save. */
  readonly saved: number;
  /** Days that a reading is kept. */
  readonly historyDays: number;
  /** Readings of one reader that are kept, the newest. */
  readonly history: number;
}

/** An article by its number: whether it is still there, the edition knows. */
export interface Kept {
  readonly articleId: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Library {
  readonly rules: LibraryRules;
  /** `full`: the reader has saved as many as there may be. Saving again changes nothing. */
  save(userId: string, articleId: number): Promise<'saved' | 'full'>;
  unsave(userId: string, articleId: number): Promise<void>;
  isSaved(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  saved(userId: string): Promise<readonly Kept[]>;
  /** Notes a reading; one that was read before moves to the front. @returns `false` where the reader wants no history */
  read(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  history(userId: string): Promise<{ readonly on: boolean; readonly items: readonly Kept[] }>;
  forgetRead(userId: string, articleId: number): Promise<void>;
  clearHistory(userId: string): Promise<void>;
  /** Whether a history is kept from now on; what there is of one goes when it is not. */
  keepHistory(userId: string, on: boolean): Promise<void>;
  /** What is kept of a reader, for the export of everything kept. */
  exportData(userId: string): Promise<Readonly<Record<string, unknown>>>;
}
