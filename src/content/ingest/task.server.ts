/** Runs one ingest task, in the main thread or a worker; importing this module loads the DOM. */
import type { DocumentType } from '../../lib/content/model.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import { type IngestContext, type Ingested, ingestComment, ingestDocument } from './ingest.server.ts';
import { createSanitizer } from './sanitize.server.ts';

export interface LocalWorker {
  perform(what: Task): Promise<Done>;
  close(): void;
}

/** Creates a sanitizer and the functions that use it. */
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

// The messages between the main thread and an ingest thread.

/** A task for a thread; `raw` is WordPress's JSON as received. */
export type Task =
  | { readonly kind: 'document'; readonly type: DocumentType; readonly raw: unknown; readonly preview: boolean }
  | { readonly kind: 'comment'; readonly raw: unknown }
  | { readonly kind: 'lines'; readonly texts: readonly string[] };

/** The result; its shape depends on the task's kind. */
export type Done = Ingested<IngestedDocument | IngestedComment> | string[];

/** A thread's request to the main thread during a task: the size of a picture, or the text of a file of captions, by address. */
export interface Request {
  readonly measure?: string;
  readonly captions?: string;
}
