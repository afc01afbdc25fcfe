/** What goes wrong on demand: answers that are errors, late, or never come. */
export interface Fault {
  /** Only calls whose path begins with this; all of them without. */
  readonly path?: string;
  readonly method?: string;
  /** `0` breaks the connection off. Without a status the call is only slowed down. */
  readonly status?: number;
  /** What the error says, in place of Stripe's regret. */
  readonly error?: Readonly<Record<string, string>>;
  /** Whether the call has taken effect when it fails. */
  readonly when?: 'before' | 'after';
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** Never answers. */
  readonly hang?: boolean;
  /** How many calls it meets; 1 unless said otherwise. */
  times?: number;
}

export interface Faults {
  list(): readonly Fault[];
  add(fault: Fault): void;
  clear(): void;
  /** The fault that this call meets, which is then used up by one. */
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
