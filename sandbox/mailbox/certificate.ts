/** A certificate for a server of the sandbox, created for each run: X.509 in DER (RFC 5280), signed by its own key. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM; a client that must trust the server adds it to its trusted certificates. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

/** Milliseconds before and after now for which the certificate is valid. */
const validityMs = 24 * 60 * 60_000;

/** @param names host names that it is for */
export function makeCertificate(names: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const commonName = der(0x31, sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from(names[0] ?? ''))));
  const name = sequence(commonName);
  const algorithm = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const alternatives = sequence(...names.map((host) => der(0x82, Buffer.from(host))));
  const extensions = sequence(
    sequence(objectId(0x55, 0x1d, 0x11), der(0x04, alternatives)),
    // Basic constraints: a certificate authority, because the certificate is its own issuer.
    sequence(objectId(0x55, 0x1d, 0x13), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  );
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(Date.now() - validityMs), time(Date.now() + validityMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const whole = sequence(toBeSigned, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** One value: its tag, its length, and its content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const objectId = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));

/** UTCTime. */
const time = (milliseconds: number): Buffer => {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
};
