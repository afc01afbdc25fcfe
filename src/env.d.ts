/// <reference types="astro/client" />

declare module '@iabtechlabtcf/stub' {
  /** Installs `__tcfapi` as a queue, and the frame by which frames find it, unless the page has one. */
  export default function installStub(): void;
}

declare namespace App {
  /** What `server/main.ts` (or, in `astro dev`, `middleware.ts`) hands to every route. */
  interface Locals {
    /** Reader over the content store; records the tags of what the page shows. */
    content: import('./lib/content/reader.ts').ContentReader;
    /** Which rendering of an access-controlled article is wanted. `full` only after the reader's access was checked. */
    variant: 'public' | 'full';
    /**
     * Called by a page whose full variant is for readers of this level; the press then keeps both variants. Both variants call
     * it with the same level.
     */
    markAccess(level: import('./lib/content/model.ts').AccessLevel): void;
    /** Set for a page that only its signed-in reader may see: it is loaded again when the reader signs out in another tab. */
    personal?: true;
    /** Data for `/-/press`; set only for requests to that page, and only if an operators' token is configured. */
    operators?: import('./server/operators/operators.ts').OperatorsView;
    /** Where the request comes from, as the HTTP server determined it; missing in `astro dev` and when the press renders. */
    client?: import('./lib/accounts/service.ts').Caller;
    /** Parsed settings, see `server/config/config.ts`. */
    config: import('./server/config/config.ts').Config;
    /** Services that API routes call. */
    services: import('./server/compose.ts').Services;
  }
}
