/** One task of ingest, in whichever thread this is loaded; loading it loads the DOM. */
import { type IngestContext, ingestComment, ingestDocument } from './ingest.server.ts';
import type { Done, Task } from './messages.ts';
import { createSanitiser } from './sanitize.server.ts';

export interface LocalWorker {
  perform(what: Task): Promise<Done>;
  close(): void;
}

/** Makes a sanitiser and what works with it. */
export function createLocalWorker(context: IngestContext): LocalWorker {
  const sanitiser = createSanitiser();
  return {
    async perform(what) {
      switch (what.kind) {
        case 'document':
          return ingestDocument(sanitiser, what.type, what.raw, { ...context, preview: what.preview });
        case 'comment':
          return ingestComment(sanitiser, what.raw, context);
        case 'lines':
          return what.texts.map((text) => sanitiser.line(text));
      }
    },
    close: () => sanitiser.window.close(),
  };
}
