/** The published examples. Source: Amazon S3 API Reference, "Examples: Signature Calculations" and "Authenticating Requests: Using Query Parameters". */
import { expect, it } from 'vitest';
import { faultOf } from './signature.ts';

const key = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', region: 'us-east-1' };
const at = Date.UTC(2013, 4, 24);
const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const minute = 60_000;

const example = (
  method: string,
  target: string,
  names: string,
  signature: string,
  headers: Record<string, string>,
) => ({
  method,
  target,
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-content-sha256': nothing,
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${key.id}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
    ...headers,
  },
});

const usual = 'host;x-amz-content-sha256;x-amz-date';
const get = example(
  'GET',
  '/test.txt',
  'host;range;x-amz-content-sha256;x-amz-date',
  'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  { range: 'bytes=0-9' },
);
const put = example(
  'PUT',
  '/test$file.text',
  'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
  '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
  },
);
const lifecycle = example(
  'GET',
  '/?lifecycle',
  usual,
  'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  {},
);
const list = example(
  'GET',
  '/?max-keys=2&prefix=J',
  usual,
  '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  {},
);
const presigned = {
  method: 'GET',
  target: `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${key.id}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  headers: { host: 'examplebucket.s3.amazonaws.com' },
};

it.each([
  ['GET of an object', get],
  ['PUT of an object', put],
  ['GET of a sub-resource', lifecycle],
  ['a list of objects', list],
  ['a presigned URL', presigned],
])('the signature of AWS’s published example is accepted: %s', (_, request) => {
  expect(faultOf(request, key, at)).toBeNull();
});

it.each([
  ['another path', { ...get, target: '/test2.txt' }],
  ['another method', { ...get, method: 'DELETE' }],
  ['another query', { ...list, target: '/?max-keys=2&prefix=K' }],
  ['another signed header', { ...get, headers: { ...get.headers, range: 'bytes=0-10' } }],
  ['another body', { ...get, headers: { ...get.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }],
  ['a longer lifetime', { ...presigned, target: presigned.target.replace('86400', '86401') }],
])('a signed request that was changed to %s is refused', (_, request) => {
  expect(faultOf(request, key, at)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
});

it('a wrong key or region, a clock off by 16 minutes, an expired link and an unsigned header are refused', () => {
  expect(faultOf(get, { ...key, secret: 'other' }, at)).toMatchObject({ code: 'SignatureDoesNotMatch' });
  expect(faultOf(get, { ...key, id: 'OTHER' }, at)).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
  expect(faultOf(get, { ...key, region: 'auto' }, at)).toMatchObject({
    status: 400,
    code: 'AuthorizationHeaderMalformed',
  });
  expect(faultOf(get, key, at + 15 * minute)).toBeNull();
  for (const late of [16, -16])
    expect(faultOf(get, key, at + late * minute)).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' });
  expect(faultOf(presigned, key, at + 86_401_000)).toMatchObject({ status: 403, code: 'AccessDenied' });
  const unsigned = { ...get, headers: { ...get.headers, 'x-amz-acl': 'public-read' } };
  expect(faultOf(unsigned, key, at)).toMatchObject({ status: 403, code: 'AccessDenied' });
  expect(faultOf({ ...get, headers: { host: get.headers.host } }, key, at)).toMatchObject({ code: 'AccessDenied' });
});
