/** A priority queue: a binary heap whose order is fixed when an item is added. */
export interface Queue<T> {
  readonly size: number;
  push(item: T): void;
  /** Removes the first item in order; among equals the one that was added first. */
  pop(): T | undefined;
  peek(): T | undefined;
}

/** @param before whether `a` comes before `b` */
export function createQueue<T>(before: (a: T, b: T) => boolean): Queue<T> {
  const heap: { readonly item: T; readonly order: number }[] = [];
  let pushed = 0;

  const first = (i: number, j: number): boolean => {
    const a = heap[i];
    const b = heap[j];
    if (!a || !b) return a !== undefined;
    if (before(a.item, b.item)) return true;
    return !before(b.item, a.item) && a.order < b.order;
  };
  const swap = (i: number, j: number): void => {
    const a = heap[i];
    const b = heap[j];
    if (!a || !b) return;
    heap[i] = b;
    heap[j] = a;
  };

  return {
    get size() {
      return heap.length;
    },
    push(item) {
      heap.push({ item, order: pushed++ });
      let at = heap.length - 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (!first(at, parent)) break;
        swap(at, parent);
        at = parent;
      }
    },
    pop() {
      const top = heap[0];
      const last = heap.pop();
      if (!top || !last) return undefined;
      if (heap.length > 0) {
        heap[0] = last;
        let at = 0;
        for (;;) {
          const left = 2 * at + 1;
          const child = left + 1 < heap.length && first(left + 1, left) ? left + 1 : left;
          if (child >= heap.length || !first(child, at)) break;
          swap(child, at);
          at = child;
        }
      }
      return top.item;
    },
    peek: () => heap[0]?.item,
  };
}
