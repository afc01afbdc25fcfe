/** What the main thread and a thread of ingest say to each other. */
import type { IngestedComment, IngestedDocument } from './documents.ts';
import type { Ingested } from './ingest.server.ts';
import type { DocumentType } from './model.ts';

/** What a thread is asked; `raw` is WordPress's JSON as it came. */
export type Task =
  | { readonly kind: 'document'; readonly type: DocumentType; readonly raw: unknown; readonly preview: boolean }
  | { readonly kind: 'comment'; readonly raw: unknown }
  | { readonly kind: 'lines'; readonly texts: readonly string[] };

/** What comes back; its shape follows the task's kind. */
export type Done = Ingested<IngestedDocument | IngestedComment> | string[];

type Size = { width: number; height: number } | null;

export type ToWorker =
  | { readonly task: number; readonly what: Task }
  | { readonly measured: number; readonly size: Size }
  | { readonly captioned: number; readonly text: string | null };
export type FromWorker =
  | { readonly task: number; readonly result: Done }
  | { readonly task: number; readonly failure: string }
  | { readonly measure: number; readonly url: string }
  | { readonly captions: number; readonly url: string };
