/** Runs one ingest task, in the main thread or a worker; importing this module loads the DOM. */
import type { DocumentType } from '../../lib/content/model.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import { type IngestContext, type Ingested, ingestComment, ingestDocument } from './ingest.server.ts';
import { createSanitizer } from './sanitize.server.ts';

export interface TaskRunner {
  perform(task: Task): Promise<TaskResult>;
  close(): void;
}

/** Creates a sanitizer, and performs tasks with it in the calling thread. */
export function createTaskRunner(context: IngestContext): TaskRunner {
  const sanitizer = createSanitizer();
  return {
    async perform(task) {
      switch (task.kind) {
        case 'document':
          return ingestDocument(sanitizer, task.type, task.raw, { ...context, preview: task.preview });
        case 'comment':
          return ingestComment(sanitizer, task.raw, context);
        case 'lines':
          return task.texts.map((text) => sanitizer.line(text));
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
export type TaskResult = Ingested<IngestedDocument | IngestedComment> | string[];

/** A thread's request to the main thread during a task: the size of a picture, or the text of a file of captions, by address. */
export interface MainThreadRequest {
  readonly measure?: string;
  readonly captions?: string;
}
