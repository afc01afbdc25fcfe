/** Counts what each network, or any other key, has open at the same time. A key with nothing open takes no memory. */
export interface OpenCounts {
  of(key: string): number;
  add(key: string): void;
  remove(key: string): void;
}

export function createOpenCounts(): OpenCounts {
  const counts = new Map<string, number>();
  const of = (key: string): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key) => void counts.set(key, of(key) + 1),
    remove(key) {
      if (of(key) > 1) counts.set(key, of(key) - 1);
      else counts.delete(key);
    },
  };
}
