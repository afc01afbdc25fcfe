/**
 * Values that others keep for us and can neither read nor change, a browser in its cookie or the database: AES-256-GCM under keys derived from the
 * site's own. What is sealed for one purpose cannot be opened for another, and nothing can be opened after its time.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Sealer {
  /** @param purpose a fixed word; @param seconds how long it can be opened */
  seal(purpose: string, value: unknown, seconds: number): string;
  /** The value; `null` when it is forged, of another purpose, too old or nothing at all. */
  open(purpose: string, text: string | undefined): unknown;
}

export interface SealerOptions {
  /** The first seals, all open. */
  readonly secrets: readonly string[];
  /** Letters of the longest text that is opened (default 4096, longer than any cookie). */
  readonly longest?: number;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const ivBytes = 12;
const tagBytes = 16;
export function createSealer({ secrets, longest = 4096, now = Date.now }: SealerOptions): Sealer {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'broadsheet sealed cookies', 32)));
  const [first] = keys;
  if (!first) throw new Error('Sealing needs at least one secret.');

  return {
    seal(purpose, value, seconds) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', first, iv).setAAD(Buffer.from(purpose));
      const text = JSON.stringify([Math.floor(now() / 1000) + seconds, value]);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
    },
    open(purpose, text) {
      if (!text || text.length > longest || !/^[\w-]+$/.test(text)) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Only the one spelling of these bytes counts.
      if (bytes.byteLength <= ivBytes + tagBytes || bytes.toString('base64url') !== text) return null;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
            .setAAD(Buffer.from(purpose))
            .setAuthTag(bytes.subarray(-tagBytes));
          const body = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
          const [until, value] = JSON.parse(body.toString('utf8')) as [number, unknown];
          return until * 1000 > now() ? value : null;
        } catch {
          // Another key, or forged.
        }
      }
      return null;
    },
  };
}
