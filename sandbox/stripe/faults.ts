/** Faults on demand: error responses, late responses, and none at all. */
export interface Fault {
  /** Only calls whose path begins with this; without it, all calls. */
  readonly path?: string;
  readonly method?: string;
  /** `0` closes the connection. Without a status the call is only delayed. */
  readonly status?: number;
  /** Replaces Stripe's usual error text. */
  readonly error?: Readonly<Record<string, string>>;
  /** Whether the call has taken effect before it fails. */
  readonly when?: 'before' | 'after';
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** Never answers. */
  readonly hang?: boolean;
  /** How many calls are affected (default: 1). */
  times?: number;
}

export interface Faults {
  list(): readonly Fault[];
  add(fault: Fault): void;
  clear(): void;
  /** The fault for this call, whose remaining `times` decrease by one. */
  take(method: string, path: string): Fault | null;
}

export function makeFaults(): Faults {
  let faults: Fault[] = [];
  return {
    list: () => faults,
    add: (fault) => faults.push({ ...fault, times: fault.times ?? 1 }),
    clear() {
      faults = [];
    },
    take(method, path) {
      const fault = faults.find(
        (one) =>
          (one.times ?? 1) > 0 &&
          (one.method === undefined || one.method.toUpperCase() === method.toUpperCase()) &&
          (one.path === undefined || path.startsWith(one.path)),
      );
      if (!fault) return null;
      fault.times = (fault.times ?? 1) - 1;
      faults = faults.filter(({ times }) => (times ?? 1) > 0);
      return fault;
    },
  };
}
