/** What the steps share that reshape a body. */

export interface BodyContext {
  /** Addresses without a slash at the end. */
  readonly wordpress: string;
  readonly site: string;
  /** Address of the document itself, against which relative ones are resolved. */
  readonly base: string;
  readonly frameHosts: readonly string[];
  /** Hosts beside WordPress's own from which audio and video may come, `host` or `host:port`. */
  readonly mediaHosts?: readonly string[] | undefined;
  /** The text of captions; `null` when they cannot be had. */
  captions?(url: string): Promise<string | null>;
  measure(url: string): Promise<{ width: number; height: number } | null>;
}

/** Replaces an element by what it holds. */
export function unwrap(element: Element): void {
  element.replaceWith(...element.childNodes);
}
