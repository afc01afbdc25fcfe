import { createHash, createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Bucket, startBucket } from './bucket.ts';

let bucket: Bucket;
beforeEach(async () => {
  bucket = await startBucket({ pageSize: 2 });
});
afterEach(() => bucket.stop());

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Headers of a signed request to a path that needs no encoding. */
function signed(method: string, path: string, query: string, hash: string): Record<string, string> {
  const date = new Date().toISOString().replace(/[:-]|\.\d{3}/g, '');
  const { id, secret, region } = bucket.key;
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const host = new URL(bucket.url).host;
  const request = `${method}\n${path}\n${query}\nhost:${host}\nx-amz-content-sha256:${hash}\nx-amz-date:${date}\n\n${names}\n${hash}`;
  const signing = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const signature = hmac(signing as Buffer, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(request)}`).toString('hex');
  return {
    'x-amz-date': date,
    'x-amz-content-sha256': hash,
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

async function ask(method: string, path: string, query = '', body = '', hash = sha256(body)) {
  const headers = signed(method, path, query, hash);
  const init = { method, headers, body: method === 'PUT' ? body : undefined };
  const response = await fetch(`${bucket.url}${path}${query === '' ? '' : `?${query}`}`, init);
  const text = await response.text();
  return { status: response.status, text, code: /<Code>(\w+)<\/Code>/.exec(text)?.[1] };
}

const object = (name: string): string => `/${bucket.name}/${name}`;

it('the S3 stand-in stores objects, lists them in pages, and deletes them', async () => {
  for (const name of ['b', 'a', 'c', 'other']) expect((await ask('PUT', object(name), '', name)).status).toBe(200);
  expect(await ask('GET', object('a'))).toMatchObject({ status: 200, text: 'a' });
  expect(await ask('HEAD', object('a'))).toMatchObject({ status: 200, text: '' });
  const first = await ask('GET', `/${bucket.name}`, 'list-type=2');
  expect([...first.text.matchAll(/<Key>(.*?)<\/Key>/g)].map((match) => match[1])).toEqual(['a', 'b']);
  const [, token = ''] = /<NextContinuationToken>(.*?)</.exec(first.text) ?? [];
  const next = await ask('GET', `/${bucket.name}`, `continuation-token=${encodeURIComponent(token)}&list-type=2`);
  expect([...next.text.matchAll(/<Key>(.*?)<\/Key>/g)].map((match) => match[1])).toEqual(['c', 'other']);
  expect(next.text).toContain('<IsTruncated>false</IsTruncated>');
  expect((await ask('DELETE', object('a'))).status).toBe(204);
  expect((await ask('DELETE', object('a'))).status).toBe(204);
  expect(await ask('GET', object('a'))).toMatchObject({ status: 404, code: 'NoSuchKey' });
});

it('the S3 stand-in refuses invalid requests with S3’s error codes', async () => {
  const invalidUri = { status: 400, code: 'InvalidURI' };
  expect(await ask('GET', '/%FF')).toMatchObject(invalidUri);
  expect(await ask('GET', '/%F')).toMatchObject(invalidUri);
  expect(await ask('GET', '/another-bucket/a')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  expect(await ask('GET', object('x'.repeat(1025)))).toMatchObject({ status: 400, code: 'KeyTooLongError' });
  expect(await ask('PUT', object('a'), '', 'body', sha256('other'))).toMatchObject({
    status: 400,
    code: 'XAmzContentSHA256Mismatch',
  });
  expect(await ask('GET', `/${bucket.name}`, 'continuation-token=x&list-type=2')).toMatchObject({
    code: 'InvalidArgument',
  });
  expect(await ask('GET', `/${bucket.name}`)).toMatchObject({ status: 501, code: 'NotImplemented' });
  const unsigned = await fetch(bucket.url + object('a'));
  expect(unsigned.status).toBe(403);
  expect(await unsigned.text()).toContain('<Code>AccessDenied</Code>');
  expect(bucket.objects.size).toBe(0);
});

it.each([
  ['with a Content-Length of 5', '5'],
  ['with a Content-Length of 3', '3'],
  ['without Content-Length', undefined],
])('the S3 stand-in refuses a body of four bytes %s', async (_, length) => {
  const path = object('a');
  const headers = Object.entries(signed('PUT', path, '', sha256('body'))).map(([name, value]) => `${name}: ${value}`);
  const lengths = length === undefined ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${length}`];
  const body = length === undefined ? '4\r\nbody\r\n0\r\n\r\n' : 'body';
  const { host, hostname, port } = new URL(bucket.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    [`PUT ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, ...lengths, '', body].join('\r\n'),
  );
  if (length === '5') setTimeout(() => socket.end(), 100);
  let answer = '';
  for await (const part of socket) answer += String(part);
  expect(answer).not.toContain(' 200 OK');
  expect(bucket.objects.size).toBe(0);
});
