/** The kinds by which request times are measured (docs/operations.md, "Monitoring"), and addresses in the log. */
import type { RequestKind } from '../operators/metrics.ts';
import type { Exchange, HttpServerOptions } from './server-options.ts';

const kinds: readonly (readonly [RequestKind, RegExp])[] = [
  ['api', /^\/(?:api|blaize|zephr)\//],
  ['image', /^\/image$/],
  // Takes as long as a reader listens.
  ['audio', /^\/sound\//],
  ['operators', /^\/(?:-\/|(?:metrics|healthz|readyz)$)/],
  ['static', /^\/_assets\//],
];

/** An address as it may be logged: without the tokens of gifts, private feeds, mails and signed files. */
export const loggedAddress = (address = ''): string =>
  address
    .replace(/^(\/(?:gift|podcast\/[^/?]*\/private)\/)[^/?]+/i, '$1…')
    .replace(/([?&](?:key|token|signature)=)[^&]+/gi, '$1…');

/** The kind of a request that has been answered. */
export function requestKind(
  { statics, texts }: Pick<HttpServerOptions, 'statics' | 'texts'>,
  { incoming, missed }: Pick<Exchange, 'missed'> & { readonly incoming: { readonly url?: string | undefined } },
): RequestKind {
  if (missed) return 'miss';
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  if (statics.has(path) || texts?.has(path)) return 'static';
  return kinds.find(([, paths]) => paths.test(path))?.[0] ?? 'page';
}
