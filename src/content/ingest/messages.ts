/** What the main thread and a thread of ingest say to each other. */

import type { DocumentType } from '../../lib/content/model.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import type { Ingested } from './ingest.server.ts';

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
