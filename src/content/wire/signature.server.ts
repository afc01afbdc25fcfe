/** Signatures that WordPress and the site share (docs/content-api.md). */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 as hex over the parts, one after the other. */
export function sign(secret: string, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** Compares in constant time; what is no signature at all is simply wrong. */
export function matches(expected: string, given: string): boolean {
  if (!/^[0-9a-f]{64}$/iu.test(given)) return false;
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(given, 'hex'));
}
