/** The newspaper as its mail names it. */
import { publication } from '../../publication.ts';
import type { Publisher } from './model.ts';

/** @param siteUrl origin of the site */
export function publisherAt(siteUrl: string): Publisher {
  const { name, motto, language, timeZone, contact } = publication;
  const { email, postalAddress } = contact;
  return { name, motto, language, timeZone, siteUrl, contact: email, postalAddress };
}
