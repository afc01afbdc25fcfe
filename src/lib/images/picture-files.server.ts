/**
 * Names of picture files: the address under which a file is kept, and the tag that changes when WordPress says that the file was deleted or
 * replaced.
 */
import { createHash } from 'node:crypto';
import { tag } from '../content/tags.ts';

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Takes from an address what doesn't tell one picture from another. @param trustedHost whose answers don't depend on the query */
export function fileAddress(url: URL, trustedHost: string | undefined): URL {
  url.hash = '';
  if (url.host === trustedHost) url.search = '';
  return url;
}

/** Tag of the file at an address, see {@link fileAddress}. */
export const fileTag = (url: URL): string => tag.picture(digest(url.href));

/** Tags of the files at addresses; what is no address has none. */
export function fileTags(addresses: readonly string[], trustedHost: string): string[] {
  const tags = addresses.flatMap((address) => {
    const url = URL.parse(address);
    return url ? [fileTag(fileAddress(url, trustedHost))] : [];
  });
  return [...new Set(tags)];
}

export interface ChangedFiles {
  /** Digests of their addresses. */
  readonly digests: readonly string[];
  /** So many changed that they weren't named. */
  readonly unnamed: boolean;
}

/** The files that changed tags stand for. */
export function changedFiles(tags: ReadonlySet<string>): ChangedFiles {
  const prefix = tag.picture('');
  const digests = [...tags].flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  return { digests, unnamed: tags.has(tag.pictures) };
}
