/** What the steps share that reshape a body. */

export interface BodyContext {
  /** Addresses without a slash at the end. */
  readonly wordpress: string;
  readonly site: string;
  /** Address of the document itself, against which relative ones are resolved. */
  readonly base: string;
  readonly frameHosts: readonly string[];
  measure(url: string): Promise<{ width: number; height: number } | null>;
}

/** Replaces an element by what it holds. */
export function unwrap(element: Element): void {
  element.replaceWith(...element.childNodes);
}
