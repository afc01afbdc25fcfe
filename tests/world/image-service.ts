/** An image service, and a WordPress whose uploads the tests define. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createImages, type Images } from '../../src/lib/images/images.server.ts';
import { silent } from '../../src/lib/logging.ts';

let server: Server;
export let host: string;
export let dir: string;
export let images: Images;
export const asked: string[] = [];
export const files = new Map<string, (req: IncomingMessage, res: ServerResponse) => void>();

const send =
  (type: string, body: Buffer | string, headers = {}) =>
  (_req: IncomingMessage, res: ServerResponse) =>
    res.writeHead(200, { 'content-type': type, ...headers }).end(body);

/** The path of WordPress's uploads; the stand-in has nothing else. */
export const uploads = '/wp-content/uploads';

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

async function startUploads(): Promise<void> {
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
}

function stopUploads(): void {
  server.closeAllConnections();
  server.close();
}

async function openService(): Promise<void> {
  asked.length = 0;
  dir = await mkdtemp(path.join(tmpdir(), 'broadsheet-images-'));
  await openImages();
}

async function closeService(): Promise<void> {
  await images.close();
  await rm(dir, { recursive: true, force: true });
}

/** Opens a service for each test of a file, and the uploads for all of them. */
export function useImageService(): void {
  beforeAll(startUploads);
  afterAll(stopUploads);
  beforeEach(openService);
  afterEach(closeService);
}

/** Opens the service that `ask` asks. */
export async function openImages(more: Partial<Parameters<typeof createImages>[0]> = {}): Promise<void> {
  images = await createImages({
    dir,
    maxBytes: 20e6,
    allowedHosts: [],
    trustedHost: host,
    log: silent,
    maxSourceBytes: 1e6,
    timeoutMs: 20_000,
    ...more,
  });
}

export const ask = (
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
