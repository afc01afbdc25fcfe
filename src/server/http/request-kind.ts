/** Kinds of requests for measuring response times (docs/operations.md, "Monitoring"), and addresses for the log. */
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

/** Paths of gifts and private feeds, in the spellings that the site answers. */
const secretPath = /^((?:https?:\/\/[^/]{0,255})?\/{1,9}(?:gift|podcast\/{1,9}[^/]*\/{1,9}private)\/{1,9})[^/]+/i;
/** Parameters with the tokens of mails, signed files and social sign-in, and with email addresses. */
const secretParameter = /^(?:key|token|t|signature|code|recognized_email)=|@|%40/i;

/** An address for the log: without tokens, and without readers' email addresses. */
export function loggedAddress(address = ''): string {
  const [path = ''] = address.split('?', 1);
  // An expression over the whole query would take quadratic time for one of question marks.
  const query = address
    .slice(path.length)
    .split(/(?<=[?&])/)
    .map(loggedParameter);
  return path.replace(secretPath, '$1…') + query.join('');
}

/** @param part a parameter with the sign behind it */
function loggedParameter(part: string): string {
  if (!secretParameter.test(part)) return part;
  const [name = ''] = /^[\w-]*=/.exec(part) ?? [];
  return `${name}…${/[?&]$/.exec(part)?.[0] ?? ''}`;
}

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
