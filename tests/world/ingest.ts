/** Ingest of one document, for tests. */

import type { IngestedDocument } from '../../src/content/ingest/document.ts';
import { type IngestContext, ingestDocument } from '../../src/content/ingest/ingest.server.ts';
import { createSanitizer } from '../../src/content/ingest/sanitize.server.ts';
import type { DocumentType } from '../../src/lib/content/model.ts';
import { type Json, wirePost } from '../fixtures/wordpress.ts';

export const sanitizer = createSanitizer();
export const measured: string[] = [];
/** Measures no picture, and allows no frames. */
export const plainContext: IngestContext = {
  wordpress: 'https://cms.example',
  site: 'https://sun.example',
  frameHosts: [],
  measure: async () => null,
};
export const context: IngestContext = {
  ...plainContext,
  frameHosts: ['www.youtube.com', 'www.youtube-nocookie.com', 'player.vimeo.com', '127.0.0.1:8836'],
  measure: async (url) => {
    measured.push(url);
    return url.includes('elsewhere') ? null : { width: 800, height: 600 };
  },
};

export async function take(part: Json = {}, type: DocumentType = 'articles'): Promise<IngestedDocument> {
  const result = await ingestDocument(
    sanitizer,
    type,
    wirePost({ id: 1, link: 'https://cms.example/articles/one/', ...part }),
    context,
  );
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document;
}
export const body = async (rendered: string): Promise<string> => (await take({ content: { rendered } })).bodyHtml;
