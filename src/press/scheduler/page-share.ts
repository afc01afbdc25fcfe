/** Interface for pages that the nodes of a cluster share; `src/server/cluster/shared-pages.ts` stores them in PostgreSQL. */
import type { Bodies, PageRef, StoredPage } from '../store/stored-page.ts';

/** A page and its bytes, as one node rendered it for all. */
export interface SharedPage {
  readonly page: StoredPage;
  readonly bodies: Bodies;
}

/** The state of a page in the cluster before it is rendered here. */
export interface ShareTicket {
  /** The page as another node rendered it from the present content; `null`: this node renders it. */
  readonly shared: SharedPage | null;
  /** Gives the page to the other nodes; `null`: it couldn't be rendered, or may not be stored. Call it once, when `shared` is `null`. */
  give(rendered: SharedPage | null): void;
}

export interface PageShare {
  /**
   * Requests a page, and waits while another node is rendering it. Never throws: if the other nodes can't be reached, this node renders.
   */
  take(ref: PageRef): Promise<ShareTicket>;
}
