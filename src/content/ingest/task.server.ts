/** One task of ingest, in whichever thread this is loaded; loading it loads the DOM. */
import { type IngestContext, ingestComment, ingestDocument } from './ingest.server.ts';
import type { Done, Task } from './messages.ts';
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
