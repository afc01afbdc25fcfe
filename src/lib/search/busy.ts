/** More is being looked for than can be found in time; ask again in a few seconds. */
export class SearchBusy extends Error {
  constructor() {
    super('more is being looked for than can be found in time');
    this.name = 'SearchBusy';
  }
}

/** Seconds after which to ask again. */
export const busyFor = 5;

/** By its name: pages are built apart from the service that throws it, with a class of their own. */
export const isSearchBusy = (error: unknown): boolean => error instanceof Error && error.name === 'SearchBusy';
