/** Waits for conditions that other code brings about. */

export interface Conditions {
  /** Checks every condition that is awaited; call it when one may have begun to hold. */
  check(): void;
  /** Resolves to `true` when the condition holds, or to `false` after some milliseconds (default: never). */
  until(holds: () => boolean, ms?: number): Promise<boolean>;
}

/** Creates a set of conditions that are checked together. */
export function createConditions(): Conditions {
  const checks = new Set<() => void>();
  return {
    check() {
      for (const check of [...checks]) check();
    },
    async until(holds, ms) {
      if (holds()) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const check = (): void => {
        if (holds()) resolve(true);
      };
      checks.add(check);
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms, false).unref();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        checks.delete(check);
      }
    },
  };
}
