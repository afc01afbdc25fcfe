/**
 * A limit in the memory of one process, for questions that change nothing and cost little: so many in so many seconds for each
 * who asks. What protects codes and accounts is counted in the database instead.
 */
export interface Gate {
  /** Counts one question. @returns 0 when it may be asked, else the seconds to wait */
  enter(who: string): number;
}

export interface GateOptions {
  readonly most: number;
  readonly seconds: number;
  /** How many are remembered; beyond that the oldest are forgotten. */
  readonly remembered?: number;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export function createGate({ most, seconds, remembered = 10_000, now = Date.now }: GateOptions): Gate {
  /** In the order of their windows' starts. */
  const windows = new Map<string, { readonly until: number; count: number }>();
  return {
    enter(who) {
      const clock = now();
      let window = windows.get(who);
      if (!window || window.until <= clock) {
        windows.delete(who);
        window = { until: clock + seconds * 1000, count: 0 };
        windows.set(who, window);
        if (windows.size > remembered) windows.delete(windows.keys().next().value ?? '');
      }
      window.count++;
      return window.count > most ? Math.max(1, Math.ceil((window.until - clock) / 1000)) : 0;
    },
  };
}
