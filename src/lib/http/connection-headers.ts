/** Headers of one connection, which a proxy doesn't pass on (RFC 9110, section 7.6.1). */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers, in lower case, without those of the connection and those that `Connection` names. */
export function withoutConnectionHeaders(headers: Headers): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  );
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !connectionHeaders.has(name) && !named.has(name)) kept[name] = value;
  }
  return kept;
}
