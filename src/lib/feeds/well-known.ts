/** Small texts at addresses that everyone knows: who may sell our advertising, and where to report a hole. Pure. */
import { publication } from '../../publication.ts';

/**
 * ads.txt (IAB Tech Lab, version 1.1). A newspaper whose space no other company sells says so with the record that the format has for it: without
 * the file any company could offer space in our name.
 *
 * @param sellers records such as `google.com, pub-0000000000000000, DIRECT, f08c47fec0942fa0`
 */
export function adsTxt(siteUrl: string, sellers: readonly string[] = publication.ads.sellers): string {
  const records = sellers.length > 0 ? sellers : ['placeholder.example.com, placeholder, DIRECT, placeholder'];
  const lines = [
    `# ${publication.name}: who may sell advertising on this site`,
    ...records,
    `contact=${publication.contact.email}`,
    `ownerdomain=${new URL(siteUrl).hostname}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Days that a security.txt says it holds; the standard asks for less than a year. */
const validDays = 180;

/**
 * security.txt (RFC 9116).
 *
 * @param now epoch milliseconds
 */
export function securityTxt(siteUrl: string, now: number): string {
  const day = 86_400_000;
  const expires = new Date((Math.floor(now / day) + validDays) * day).toISOString().replace('.000Z', 'Z');
  const lines = [
    `Contact: mailto:${publication.contact.security}`,
    `Expires: ${expires}`,
    `Preferred-Languages: ${publication.language.split('-')[0]}`,
    `Canonical: ${siteUrl}/.well-known/security.txt`,
  ];
  return `${lines.join('\n')}\n`;
}
