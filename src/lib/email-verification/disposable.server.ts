/** Mail services that throw their mailboxes away, by the list of the package `disposable-email-domains-js`. */
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

let list: ReadonlySet<string> | undefined;

/** @param domain in lower case; mailboxes below a listed domain count too */
export function isDisposable(domain: string): boolean {
  list ??= disposableEmailBlocklistSet();
  const labels = domain.split('.');
  return labels.some((_, place) => labels.length - place > 1 && list?.has(labels.slice(place).join('.')));
}
