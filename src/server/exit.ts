/** How the programs of the site's processes end. */

/** Ends the process when `stopped` resolves. */
export function exitAfter(stopped: Promise<void>, exitCode: number): void {
  stopped.then(
    () => process.exit(exitCode),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

/** Ends the process, with the sentence for the operator and its cause. */
export function exitAfterFailedStart(error: unknown): never {
  const { message, cause } = error as Error;
  console.error(cause ? `${message}\n  (${cause})` : message);
  process.exit(1);
}
