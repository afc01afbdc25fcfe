/** Kinds of requests for measuring response times (docs/operations.md, "Monitoring"). */
import type { RequestKind } from '../operators/metrics.ts';
import type { Exchange, HttpServerOptions } from './server-options.ts';

const kinds: readonly (readonly [RequestKind, RegExp])[] = [
  ['api', /^\/(?:api|blaize|zephr)\//],
  ['image', /^\/image$/],
  // A response takes as long as the reader listens.
  ['audio', /^\/sound\//],
  ['operators', /^\/(?:-\/|(?:metrics|healthz|readyz)$)/],
  ['static', /^\/_assets\//],
];

/** The kind of a request that has been answered. */
export function requestKind(
  { statics, fixedTexts }: Pick<HttpServerOptions, 'statics' | 'fixedTexts'>,
  { incoming, missed }: Pick<Exchange, 'missed'> & { readonly incoming: { readonly url?: string | undefined } },
): RequestKind {
  if (missed) return 'miss';
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  if (statics.has(path) || fixedTexts?.has(path)) return 'static';
  return kinds.find(([, paths]) => paths.test(path))?.[0] ?? 'page';
}
