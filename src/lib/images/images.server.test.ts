import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  type MockInstance,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { silent } from '../logging.ts';
import { createImages, type Images } from './images.server.ts';
import { isPrivateAddress } from './source.server.ts';

let server: Server;
let host: string;
let dir: string;
let images: Images;
const asked: string[] = [];
const files = new Map<string, (req: IncomingMessage, res: ServerResponse) => void>();

const send =
  (type: string, body: Buffer | string, headers = {}) =>
  (_req: IncomingMessage, res: ServerResponse) =>
    res.writeHead(200, { 'content-type': type, ...headers }).end(body);

/** The path of WordPress's uploads; the stand-in has nothing else. */
const uploads = '/wp-content/uploads';

const redirect = (location: string) => (_req: IncomingMessage, res: ServerResponse) =>
  res.writeHead(302, { location }).end();

/** A PNG whose header claims enormous dimensions while its data is tiny. */
function bomb(): Buffer {
  const crcTable = Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c >>> 0;
  });
  const crc = (data: Buffer) => {
    let c = 0xffffffff;
    for (const byte of data) c = (crcTable[(c ^ byte) & 0xff] as number) ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
  };
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(60000, 0);
  header.writeUInt32BE(60000, 4);
  header.set([1, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(1000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Pictures of each format that say where they were taken, smaller than the largest width that is served. */
async function fileTaken(): Promise<void> {
  for (const kind of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const channels = kind === 'jpeg' ? 3 : 4;
    const background = kind === 'jpeg' ? '#393' : '#3938';
    const picture = await sharp({ create: { width: 800, height: 600, channels, background } })
      .withExif({
        IFD0: { Make: 'Canary camera' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1', GPSLongitudeRef: 'W', GPSLongitude: '0/1 7/1 0/1' },
      })
      .withXmp(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="51,30N"/></rdf:RDF></x:xmpmeta>',
      )
      .toFormat(kind)
      .toBuffer();
    const { exif, xmp } = await sharp(picture).metadata();
    if (!exif || !xmp) throw new Error(`The ${kind} says nothing of where it was taken`);
    files.set(`/taken.${kind === 'jpeg' ? 'jpg' : kind}`, send(`image/${kind}`, picture));
  }
}

beforeAll(async () => {
  const photo = await sharp({ create: { width: 1600, height: 900, channels: 3, background: '#c93' } })
    .jpeg()
    .toBuffer();
  files.set('/photo.jpg', send('image/jpeg', photo));
  files.set(
    '/clear.png',
    send(
      'image/png',
      await sharp({ create: { width: 300, height: 200, channels: 4, background: '#0000' } })
        .png()
        .toBuffer(),
    ),
  );
  const turned = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#333' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  files.set('/turned.jpg', send('image/jpeg', turned));
  await fileTaken();
  files.set('/bomb.png', send('image/png', bomb()));
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>';
  files.set('/honest.svg', send('image/svg+xml', svg));
  files.set('/lying.png', send('image/png', svg));
  files.set('/page.html', send('text/html', '<h1>no</h1>'));
  files.set('/torn.jpg', send('image/jpeg', photo.subarray(0, 2000)));
  files.set('/huge.jpg', send('image/jpeg', Buffer.alloc(3_000_000)));
  files.set('/endless.jpg', (_req, res) => {
    res.writeHead(200, { 'content-type': 'image/jpeg' });
    const timer = setInterval(() => res.write(Buffer.alloc(500_000)), 1);
    res.on('close', () => clearInterval(timer));
  });
  files.set('/slow.jpg', () => {});
  files.set('/broken.jpg', (_req, res) => res.writeHead(500).end());
  files.set('/inward.jpg', redirect('http://10.0.0.7/secret.png'));
  files.set('/metadata.jpg', redirect('http://169.254.169.254/latest/meta-data/'));
  files.set('/elsewhere.jpg', redirect('http://example.com/x.png'));
  files.set('/local-file.jpg', redirect('file:///etc/passwd'));
  files.set('/moved.jpg', redirect(`${uploads}/photo.jpg`));
  files.set('/loop.jpg', redirect(`${uploads}/loop.jpg`));
  server = createServer((req, res) => {
    const file = (req.url ?? '').replace(uploads, '');
    asked.push(file);
    const answer = files.get(file);
    if (answer) answer(req, res);
    else res.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  asked.length = 0;
  dir = await mkdtemp(path.join(tmpdir(), 'broadsheet-images-'));
  images = await open();
});
afterEach(async () => {
  await images.close();
  await rm(dir, { recursive: true, force: true });
});

const open = (more: Partial<Parameters<typeof createImages>[0]> = {}) =>
  createImages({
    dir,
    maxBytes: 20e6,
    allowedHosts: [],
    trustedHost: host,
    log: silent,
    maxSourceBytes: 1e6,
    timeoutMs: 20_000,
    ...more,
  });
const ask = (
  file: string,
  more: Record<string, string> = {},
  accept = 'image/avif,image/webp,*/*',
  client = '192.0.2.1',
) =>
  images.handle(
    new URLSearchParams({
      url: file.includes('://') ? file : `http://${host}${uploads}${file}`,
      width: '640',
      ...more,
    }),
    accept,
    null,
    client,
  );

describe('the image service serves', () => {
  test.each([
    ['image/avif,image/webp,*/*', 'image/avif'],
    ['image/webp,*/*', 'image/webp'],
    ['image/avif;q=0,image/webp', 'image/webp'],
    ['*/*', 'image/jpeg'],
    ['image/*', 'image/jpeg'],
  ])('for Accept "%s" a picture as %s', async (accept, type) => {
    const answer = await ask('/photo.jpg', {}, accept);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': type, vary: 'Accept' });
    const meta = await sharp(answer.body as Uint8Array).metadata();
    expect([meta.width, meta.height]).toEqual([640, 360]);
  });
  test('a small PNG at its own size, with its transparency', async () => {
    const answer = await ask('/clear.png', {}, '*/*');
    expect(answer.headers['content-type']).toBe('image/png');
    expect(await sharp(answer.body as Uint8Array).metadata()).toMatchObject({ width: 300, hasAlpha: true });
  });
  test('a social card as a 1280×720 JPEG whatever the browser accepts', async () => {
    const answer = await images.handle(
      new URLSearchParams({ url: `http://${host}${uploads}/clear.png`, crop: 'social' }),
      'image/avif',
    );
    expect(await sharp(answer.body as Uint8Array).metadata()).toMatchObject({
      format: 'jpeg',
      width: 1280,
      height: 720,
    });
  });
  test.each([
    ['/taken.jpg', { width: '256' }],
    ['/taken.jpg', { width: '640' }],
    ['/taken.jpg', { width: '3840' }],
    ['/taken.jpg', { crop: 'social' }],
    ['/taken.png', { width: '256' }],
    ['/taken.png', { width: '3840' }],
    ['/taken.webp', { width: '640' }],
    ['/taken.avif', { width: '640' }],
  ])('%s without its location and other metadata, in every format, at %j', async (name, size) => {
    for (const accept of ['image/avif', 'image/webp', '*/*']) {
      const url = `http://${host}${uploads}${name}`;
      const answer = await images.handle(new URLSearchParams({ url, ...size }), accept);
      expect(answer.status).toBe(200);
      const { exif, xmp, iptc, comments } = await sharp(answer.body as Uint8Array).metadata();
      expect({ exif, xmp, iptc, comments: comments ?? [] }).toEqual({ comments: [] });
      expect(Buffer.from(answer.body as Uint8Array).includes('GPS')).toBe(false);
      expect(Buffer.from(answer.body as Uint8Array).includes('Canary camera')).toBe(false);
    }
  });
  test('a picture behind a redirect within the host', async () => expect((await ask('/moved.jpg')).status).toBe(200));
  test('304 for an unchanged picture', async () => {
    const first = await ask('/photo.jpg');
    const again = await images.handle(
      new URLSearchParams({ url: `http://${host}${uploads}/photo.jpg`, width: '640' }),
      'image/avif',
      first.headers.etag,
    );
    expect(again.status).toBe(304);
  });
  test('the size of a picture as displayed, or null if the picture is unreadable', async () => {
    expect(await images.measure(`http://${host}${uploads}/photo.jpg`)).toEqual({ width: 1600, height: 900 });
    expect(await images.measure(`http://${host}${uploads}/turned.jpg`)).toEqual({ width: 200, height: 400 });
    expect(await images.measure(`http://${host}${uploads}/nowhere.jpg`)).toBeNull();
    expect(await images.measure('nonsense')).toBeNull();
  });
});

describe('the image service refuses', () => {
  test.each([
    ['/photo.jpg', { width: '641' }, 400],
    ['/photo.jpg', { width: '' }, 400],
    ['/photo.jpg', { width: '0x280' }, 400],
    ['/photo.jpg', { quality: '101' }, 400],
    ['/photo.jpg', { quality: '0' }, 400],
    ['/photo.jpg', { quality: '7e1' }, 400],
    ['/photo.jpg', { crop: 'square' }, 400],
    ['ftp://example.com/x.png', {}, 400],
    ['data://image/png,xx', {}, 400],
    ['http://user:secret@example.com/x.png', {}, 400],
    ['http://example.com/x.png', {}, 404],
    ['http://127.0.0.1:9/x.png', {}, 404],
    ['http://[::1]:9/x.png', {}, 404],
    ['/inward.jpg', {}, 404],
    ['/metadata.jpg', {}, 404],
    ['/elsewhere.jpg', {}, 404],
    ['/local-file.jpg', {}, 404],
    ['/nowhere.jpg', {}, 404],
    ['/huge.jpg', {}, 404],
    ['/endless.jpg', {}, 404],
    ['/bomb.png', {}, 404],
    ['/honest.svg', {}, 404],
    ['/lying.png', {}, 404],
    ['/page.html', {}, 404],
    ['/torn.jpg', {}, 404],
    ['/broken.jpg', {}, 503],
    ['/loop.jpg', {}, 503],
    ['/slow.jpg', {}, 503],
  ])('%s %j with %i', async (file, more, status) => {
    if (file === '/slow.jpg') {
      await images.close();
      images = await open({ timeoutMs: 200 });
    }
    const answer = await ask(file, more);
    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.body).toBe('This picture isn’t available.\n');
    if (status === 503) expect(answer.body).toBe('This picture isn’t available right now. Try again in a moment.\n');
    expect(String(answer.body).length).toBeGreaterThan(10);
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  });

  test.each([
    ['http://example.com/x.png', 'debug', 'Pictures from example.com are not served here.'],
    ['/broken.jpg', 'warn', 'The host of the original responded with 500.'],
  ])('a picture and logs the reason: %s', async (file, level, reason) => {
    const lines: unknown[] = [];
    const at = (name: string) => (context: object) => void lines.push([name, context]);
    await images.close();
    images = await open({ log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } });
    await ask(file);
    expect(lines).toEqual([[level, expect.objectContaining({ reason })]]);
  });

  test('a public host name that resolves to a private address', async () => {
    await images.close();
    images = await open({
      allowedHosts: ['pictures.example'],
      resolve: async () => [{ address: '192.168.1.5', family: 4 }],
    });
    expect((await ask('http://pictures.example/x.png')).status).toBe(404);
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.20.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '::1',
    '::ffff:10.0.0.1',
    'fd00::1',
    'fe80::1',
    'no address',
  ])('addresses in a private network: %s', (address) => expect(isPrivateAddress(address)).toBe(true));
  test.each(['93.184.215.14', '2606:4700::1111'])('no public address: %s', (address) =>
    expect(isPrivateAddress(address)).toBe(false),
  );
});

describe('the image cache', () => {
  test('fetches and resizes a picture once for thirty concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask('/photo.jpg')));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(asked).toEqual(['/photo.jpg']);
    expect((await readdir(dir)).filter((name) => name.endsWith('.avif'))).toHaveLength(1);
    expect(images.made()).toBe(1);
  });
  test('fetches the original once for several sizes', async () => {
    await Promise.all(['256', '640', '828'].map((width) => ask('/photo.jpg', { width })));
    expect(asked).toEqual(['/photo.jpg']);
  });
  test('ignores a query or fragment after the file name', async () => {
    const answers = await Promise.all(['', '?n=1', '?n=2', '#a', '?n=3#b'].map((more) => ask(`/photo.jpg${more}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(asked).toEqual(['/photo.jpg']);
    expect(await readdir(dir)).toHaveLength(2);
  });
  test('has at most two requests open at WordPress for forty missing pictures', async () => {
    let open = 0;
    let most = 0;
    const count = (_req: IncomingMessage, res: ServerResponse) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        res.writeHead(404).end();
      }, 10);
    };
    const names = Array.from({ length: 40 }, (_, n) => `/none-${n}.jpg`);
    for (const name of names) files.set(name, count);
    const answers = await Promise.all(names.map((name) => ask(name)));
    expect(answers.every(({ status }) => status === 404)).toBe(true);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
  });
  test('keeps finished pictures across a restart and removes half-written files', async () => {
    const first = await ask('/photo.jpg');
    await images.close();
    await writeFile(path.join(dir, 'abc.avif.part'), 'half');
    images = await open();
    expect((await ask('/photo.jpg')).body).toEqual(first.body);
    expect(asked).toEqual(['/photo.jpg']);
    expect((await readdir(dir)).some((name) => name.endsWith('.part'))).toBe(false);
  });
  test('uses an original that is over a week old while its host responds with 503, but not after a 404', async () => {
    await images.close();
    let now = Date.now();
    const photo = files.get('/photo.jpg') as (req: IncomingMessage, res: ServerResponse) => void;
    files.set('/old.jpg', photo);
    images = await open({ now: () => now });
    expect((await ask('/old.jpg')).status).toBe(200);
    now += 8 * 86_400_000;
    files.set('/old.jpg', (_req, res) => res.writeHead(503).end());
    expect((await ask('/old.jpg', { width: '384' })).status).toBe(200);
    now += 8 * 86_400_000;
    files.delete('/old.jpg');
    expect((await ask('/old.jpg', { width: '256' })).status).toBe(404);
  });
  test('stays within its size limit on disk', async () => {
    await images.close();
    images = await open({ maxBytes: 30_000 });
    for (const width of ['256', '384', '640', '750', '828', '1080', '1200', '1920']) {
      for (const accept of ['image/avif', 'image/webp', '*/*']) await ask('/photo.jpg', { width }, accept);
    }
    const { size } = await (await import('./disk-cache.server.ts')).openDiskCache(dir, 1e9);
    expect(size).toBeLessThanOrEqual(30_000);
    expect(size).toBeGreaterThan(0);
  });
  test('remembers a missing picture for one minute', async () => {
    await images.close();
    let now = Date.now();
    images = await open({ now: () => now });
    for (const width of ['640', '750', '828']) expect((await ask('/late.jpg', { width })).status).toBe(404);
    expect(asked).toEqual(['/late.jpg']);
    files.set('/late.jpg', files.get('/photo.jpg') as never);
    now += 61_000;
    expect((await ask('/late.jpg')).status).toBe(200);
    files.delete('/late.jpg');
  });
  test('remembers a missing picture for no more than a minute if the clock is set back', async () => {
    await images.close();
    const ahead = Date.now() + 86_400_000;
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: ahead });
    onTestFinished(() => void vi.useRealTimers());
    images = await open();
    expect((await ask('/late.jpg')).status).toBe(404);
    files.set('/late.jpg', files.get('/photo.jpg') as never);
    vi.setSystemTime(ahead - 86_400_000);
    vi.advanceTimersByTime(61_000);
    expect((await ask('/late.jpg')).status).toBe(200);
    files.delete('/late.jpg');
  });
  test('serves a picture at once when ingest has found it, even if it was missing before', async () => {
    expect((await ask('/fresh.jpg')).status).toBe(404);
    files.set('/fresh.jpg', files.get('/photo.jpg') as never);
    expect(await images.measure(`http://${host}${uploads}/fresh.jpg`)).toEqual({ width: 1600, height: 900 });
    expect((await ask('/fresh.jpg')).status).toBe(200);
    files.delete('/fresh.jpg');
  });
  test('makes one file of a picture, whatever quality is requested', async () => {
    for (const quality of ['1', '40', '77', '100']) expect((await ask('/photo.jpg', { quality })).status).toBe(200);
    expect(images.made()).toBe(1);
  });
});

describe('requests to WordPress', () => {
  test.each([
    '/wp-json/wp/v2/users',
    '/wp-json/wp/v2/users?x=.jpg',
    '/wp-login.php',
    '/wp-content/debug.log',
    '/wp-content/uploads/private.pdf',
    '/wp-content/uploads/%2e%2e/%2e%2e/wp-json/x.jpg',
    '/wp-content/uploads/..%2f..%2fwp-json/x.jpg',
    '/wp-content/uploads/x.php%00.jpg',
    '/photo.jpg',
    '/?rest_route=/wp/v2/users&x=/uploads/a.jpg',
  ])('are only made for picture files in its uploads folder, not for %s', async (path) => {
    const answer = await images.handle(new URLSearchParams({ url: `http://${host}${path}`, width: '640' }), '*/*');
    expect(answer.status).toBe(404);
    expect(answer.body).toBe('This picture isn’t available.\n');
    expect(asked).toEqual([]);
  });
  test('are made for a picture at any path when its host is allowed', async () => {
    await images.close();
    images = await open({ allowedHosts: [host] });
    const answer = await images.handle(new URLSearchParams({ url: `http://${host}/photo.jpg`, width: '640' }), '*/*');
    expect(answer.status).toBe(200);
  });
});

describe('many requests from one address', () => {
  const crowd = '198.51.100.1';

  /** Delays requests until the test releases them. */
  function holdUp(prefix: string) {
    const gate = Promise.withResolvers<void>();
    const held: string[] = [];
    const names = Array.from({ length: 24 }, (_, n) => `/${prefix}-${n}.jpg`);
    for (const name of names) {
      files.set(name, (_req, res) => {
        held.push(name);
        gate.promise.then(() => res.writeHead(404).end());
      });
    }
    return { names, held, gate };
  }

  test('for random names do not delay other readers or ingest', async () => {
    await images.close();
    images = await open({ timeoutMs: 20_000 });
    const { names, held, gate } = holdUp('random');
    const answers = names.map((name) => ask(name, {}, '*/*', crowd));
    await expect.poll(() => held.length).toBe(2);
    // All of this while every request of the crowd hangs:
    expect((await ask('/photo.jpg', {}, '*/*', '192.0.2.7')).status).toBe(200);
    expect(await images.measure(`http://${host}${uploads}/turned.jpg`)).toEqual({ width: 200, height: 400 });
    expect(held).toHaveLength(2);
    gate.resolve();
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([404]));
  });

  test('with random queries fetch one picture once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => ask(`/photo.jpg?random=${n}`, {}, '*/*', crowd)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(asked).toEqual(['/photo.jpg']);
    expect(images.made()).toBe(1);
  });

  test('for every width do not hold up another reader’s request', async () => {
    const { toBuffer } = sharp.prototype;
    const gate = Promise.withResolvers<void>();
    let held = 0;
    const encoding = vi.spyOn(sharp.prototype, 'toBuffer') as unknown as MockInstance<(this: Sharp) => unknown>;
    encoding.mockImplementation(async function (this: Sharp) {
      // The crowd's picture; the reader's is narrower.
      if ((await this.metadata()).width === 1600) {
        held++;
        await gate.promise;
      }
      return toBuffer.call(this);
    });
    onTestFinished(() => encoding.mockRestore());
    const widths = ['256', '384', '640', '750', '828', '1080', '1200', '1920', '2048', '3840'];
    const many = widths.flatMap((width) =>
      ['image/avif', 'image/webp', '*/*'].map((accept) => ask('/photo.jpg', { width }, accept, crowd)),
    );
    await expect.poll(() => held).toBe(2);
    expect((await ask('/turned.jpg', { width: '256' }, '*/*', '192.0.2.7')).status).toBe(200);
    expect(held).toBe(2);
    gate.resolve();
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('get 503 after sixty missing names in a minute, while existing pictures and other readers are served', async () => {
    await images.close();
    const now = Math.floor(Date.now() / 60_000) * 60_000;
    images = await open({ now: () => now });
    await ask('/photo.jpg', {}, '*/*', crowd);
    const statuses: number[] = [];
    for (let n = 0; n < 70; n++) statuses.push((await ask(`/made-up-${n}.jpg`, {}, '*/*', crowd)).status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(60);
    expect(statuses.slice(60)).toEqual(Array(10).fill(503));
    expect((await ask('/none.jpg', {}, '*/*', crowd)).headers['retry-after']).toBe('60');
    expect((await ask('/photo.jpg', {}, '*/*', crowd)).status).toBe(200);
    expect((await ask('/none.jpg', {}, '*/*', '192.0.2.7')).status).toBe(404);
    expect(asked.filter((name) => name.startsWith('/made-up'))).toHaveLength(60);
  });
});
