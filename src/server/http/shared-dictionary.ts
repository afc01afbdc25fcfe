/**
 * The shared dictionary of this build: a file that the build makes from the site's own pages (scripts/dictionary), which pages name
 * and browsers fetch when they are idle.
 */
import type { Logger } from '../../lib/logging.ts';
import { createPageDictionary, type PageDictionary } from '../../press/cache/dictionary.server.ts';
import type { BuiltStatics } from './static-files.ts';

export interface SharedDictionary extends PageDictionary {
  /** The header `Link` of pages. */
  readonly link: string;
}

/** @returns `null` when it is switched off or the build has none */
export function openSharedDictionary(
  statics: Pick<BuiltStatics, 'dictionary'>,
  { sharedDictionary }: { readonly sharedDictionary: boolean },
  log: Logger,
): SharedDictionary | null {
  const file = sharedDictionary ? statics.dictionary : null;
  return file && { ...createPageDictionary(file.bytes, log), link: `<${file.path}>; rel="compression-dictionary"` };
}
