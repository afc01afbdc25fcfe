/**
 * AWS Signature Version 4 of a request to S3, checked as S3 checks it. Source: Amazon S3 API Reference, "Authenticating Requests (AWS
 * Signature Version 4)".
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  /** By lowercase name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Key {
  readonly id: string;
  readonly secret: string;
  readonly region: string;
}

/** An error as S3 answers it. */
export interface Fault {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
/** The most by which a client's clock may be off. */
const skewMs = 15 * 60 * 1000;
const longestPresignedSeconds = 7 * 24 * 60 * 60;

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const fault = (status: number, code: string, message: string): Fault => ({ status, code, message });

/** Encodes every byte except unreserved characters as `%XY`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

interface Signature {
  readonly credential: readonly string[];
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** Such as `20130524T000000Z`. */
  readonly date: string;
  readonly payloadHash: string;
  /** Seconds for which a presigned address is valid. */
  readonly expires: number | null;
}

/** @returns what is wrong; `null`: the request was signed with the key, by a client whose clock is right */
export function faultOf(request: SignedRequest, key: Key, now: number): Fault | null {
  const claimed = readSignature(request);
  if ('code' in claimed) return claimed;
  const [id, day = '', region = '', service, end] = claimed.credential;
  const scope = [day, region, service, end].join('/');
  const malformed = claimed.expires === null ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError';
  if (claimed.credential.length !== 5 || service !== 's3' || end !== 'aws4_request' || !claimed.date.startsWith(day))
    return fault(400, malformed, 'The credential is mal-formed.');
  if (region !== key.region)
    return fault(400, malformed, `The region '${region}' is wrong; expecting '${key.region}'.`);
  if (id !== key.id)
    return fault(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  const at = timeOf(claimed.date);
  if (claimed.expires === null && !(Math.abs(now - at) <= skewMs))
    return fault(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  if (claimed.expires !== null && !(now >= at - skewMs && now <= at + claimed.expires * 1000))
    return fault(403, 'AccessDenied', 'Request has expired');
  const missing = Object.keys(request.headers).find(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !claimed.signedHeaders.includes(name),
  );
  if (missing)
    return fault(403, 'AccessDenied', `There were headers present in the request which were not signed: ${missing}`);
  const signingKey = hmac(hmac(hmac(hmac(`AWS4${key.secret}`, day), region), 's3'), 'aws4_request');
  const stringToSign = [algorithm, claimed.date, scope, sha256(canonicalRequest(request, claimed))].join('\n');
  const expected = hmac(signingKey, stringToSign);
  const given = Buffer.from(claimed.signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected)
    ? null
    : fault(
        403,
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided.',
      );
}

const denied = fault(403, 'AccessDenied', 'Access Denied');

function readSignature({ target, headers }: SignedRequest): Signature | Fault {
  const query = new URLSearchParams(target.split('?')[1] ?? '');
  if (query.has('X-Amz-Algorithm')) {
    const expires = Number(query.get('X-Amz-Expires'));
    if (query.get('X-Amz-Algorithm') !== algorithm || !(expires >= 1 && expires <= longestPresignedSeconds))
      return fault(400, 'AuthorizationQueryParametersError', 'The query parameters of the signature are not right.');
    return {
      credential: (query.get('X-Amz-Credential') ?? '').split('/'),
      signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
      signature: query.get('X-Amz-Signature') ?? '',
      date: query.get('X-Amz-Date') ?? '',
      payloadHash: 'UNSIGNED-PAYLOAD',
      expires,
    };
  }
  const { authorization, 'x-amz-date': date = '', 'x-amz-content-sha256': payload } = headers;
  if (authorization === undefined) return denied;
  if (payload === undefined)
    return fault(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  const form = /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;
  const [, credential, signedHeaders, signature] = form.exec(String(authorization)) ?? [];
  if (!credential || !signedHeaders || !signature)
    return fault(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.');
  return {
    credential: credential.split('/'),
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: String(date),
    payloadHash: String(payload),
    expires: null,
  };
}

/** @returns NaN for another form */
function timeOf(date: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function canonicalRequest(
  { method, target, headers }: SignedRequest,
  { signedHeaders, payloadHash }: Signature,
): string {
  const [path = '/', query = ''] = target.split('?');
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith('X-Amz-Signature='))
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=').map(decodeURIComponent);
      return `${encode(name)}=${encode(value)}`;
    });
  return [
    method,
    decodeURIComponent(path).split('/').map(encode).join('/'),
    pairs.sort().join('&'),
    ...signedHeaders.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
}
