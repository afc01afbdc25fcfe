/** One task of ingest, in whichever thread this is loaded; loading it loads the DOM. */
import type { DocumentType } from '../../lib/content/model.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import { type IngestContext, type Ingested, ingestComment, ingestDocument } from './ingest.server.ts';
import { createSanitizer } from './sanitize.server.ts';

export interface LocalWorker {
  perform(what: Task): Promise<Done>;
  close(): void;
}

/** Makes a sanitizer and what works with it. */
export function createLocalWorker(context: IngestContext): LocalWorker {
  const sanitizer = createSanitizer();
  return {
    async perform(what) {
      switch (what.kind) {
        case 'document':
          return ingestDocument(sanitizer, what.type, what.raw, { ...context, preview: what.preview });
        case 'comment':
          return ingestComment(sanitizer, what.raw, context);
        case 'lines':
          return what.texts.map((text) => sanitizer.line(text));
      }
    },
    close: () => sanitizer.window.close(),
  };
}

// What the main thread and a thread of ingest say to each other.

/** What a thread is asked; `raw` is WordPress's JSON as it came. */
export type Task =
  | { readonly kind: 'document'; readonly type: DocumentType; readonly raw: unknown; readonly preview: boolean }
  | { readonly kind: 'comment'; readonly raw: unknown }
  | { readonly kind: 'lines'; readonly texts: readonly string[] };

/** What comes back; its shape follows the task's kind. */
export type Done = Ingested<IngestedDocument | IngestedComment> | string[];

/** What a thread asks the main thread while it ingests: the size of a picture, or the text of a file of captions, by address. */
export interface Request {
  readonly measure?: string;
  readonly captions?: string;
}
