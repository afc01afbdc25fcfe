/** A value of a cluster. Nodes share their pages, so that a page must not depend on which of them renders it. */
export interface SharedValue {
  /** Whether this node makes the value, for all. */
  leads(): boolean;
  /** What the node that makes it has written last. */
  read(): string | null;
  /** @param tags of the pages that show another value now */
  write(value: string, tags: readonly string[]): Promise<void>;
}
