/**
 * Names of picture files: the address under which a file is cached, and the tag that changes when WordPress reports that the file was
 * deleted or replaced.
 */
import { createHash } from 'node:crypto';
import { tag } from '../content/tags.ts';

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Removes the parts of an address that don't distinguish pictures. @param trustedHost the host whose responses don't depend on the
 * query
 */
export function fileAddress(url: URL, trustedHost: string | undefined): URL {
  url.hash = '';
  if (url.host === trustedHost) url.search = '';
  return url;
}

/** Tag of the file at an address, see {@link fileAddress}. */
export const fileTag = (url: URL): string => tag.picture(digest(url.href));

/** The files at addresses, see {@link fileAddress}, without duplicates and invalid addresses. */
export function fileAddresses(addresses: readonly string[], trustedHost: string): URL[] {
  const files = new Map<string, URL>();
  for (const address of addresses) {
    const url = URL.parse(address);
    if (url) files.set(fileAddress(url, trustedHost).href, url);
  }
  return [...files.values()];
}

/** Tags of the files at addresses; invalid addresses have none. */
export const fileTags = (addresses: readonly string[], trustedHost: string): string[] =>
  fileAddresses(addresses, trustedHost).map(fileTag);

export interface ChangedFiles {
  /** Digests of their addresses. */
  readonly digests: readonly string[];
  /** Whether any file may have changed: there were too many to name. */
  readonly anyFile: boolean;
}

/** The changed files that these tags name. */
export function changedFiles(tags: ReadonlySet<string>): ChangedFiles {
  const prefix = tag.picture('');
  const digests = [...tags].flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  return { digests, anyFile: tags.has(tag.pictures) };
}
