/** Refusal of a command: data that only the site itself upgrades, because a process of an earlier version may be using it. */
export class StartFirst extends Error {
  override readonly name = 'StartFirst';

  /** @param what the data, and how it differs, for the operator */
  constructor(what: string) {
    super(`${what}. Start this version of the site first, then run the command again.`);
  }
}
