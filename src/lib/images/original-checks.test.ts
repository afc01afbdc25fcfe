import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
import { changedFiles, fileTags } from './picture-files.server.ts';

type Answer = (res: ServerResponse) => void;
const gone: Answer = (res) => res.writeHead(404).end();
let answer = gone;
let asked = 0;
const server = createServer((_req, res) => {
  asked += 1;
  answer(res);
});
const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const address = () => `http://${host()}/wp-content/uploads/deleted.jpg`;

let photo: Buffer;
let dir: string;
let now = 0;
let images: Images;
const open = () =>
  createImages({ dir, maxBytes: 20e6, allowedHosts: [], trustedHost: host(), log: silent, now: () => now });
const square = () =>
  sharp({ create: { width: 800, height: 800, channels: 3, background: '#339' } })
    .jpeg()
    .toBuffer();
const ask = (more: Record<string, string> = {}, accept = 'image/avif,image/webp,*/*') =>
  images.handle(new URLSearchParams({ url: address(), width: '640', ...more }), accept);

beforeAll(async () => {
  photo = await sharp({ create: { width: 1600, height: 900, channels: 3, background: '#c93' } })
    .jpeg()
    .toBuffer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
afterEach(async () => {
  await images.close();
  await rm(dir, { recursive: true, force: true });
});

describe('the image service, when a picture is deleted or replaced in WordPress', () => {
  const hour = 3_600_000;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'broadsheet-images-'));
    now = Date.now();
    answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg' }).end(photo);
    images = await open();
    await ask();
    await ask({ width: '256' }, 'image/webp');
    await images.handle(new URLSearchParams({ url: address(), crop: 'social' }), null);
    asked = 0;
  });
  test('removes it after an hour, in every size and from the disk', async () => {
    answer = gone;
    now += hour - 1;
    expect((await ask()).status).toBe(200);
    now += 2;
    expect((await ask()).status).toBe(404);
    expect((await ask({ width: '256' }, 'image/webp')).status).toBe(404);
    expect(await readdir(dir)).toEqual([]);
    expect(asked).toBe(1);
  });
  test('removes it after an hour, even if the site was restarted', async () => {
    answer = gone;
    await images.close();
    now += hour + 60_000;
    images = await open();
    expect((await ask()).status).toBe(404);
  });
  test('checks the original once an hour while it exists', async () => {
    now += hour + 1;
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await ask({ width: '256' }, 'image/webp')).status).toBe(200);
    expect(asked).toBe(1);
    answer = gone;
    now += hour + 1;
    expect((await ask()).status).toBe(404);
  });
  test('keeps serving it while WordPress is down, and checks once a minute', async () => {
    answer = (res) => res.writeHead(503).end();
    now += hour + 1;
    for (const width of ['640', '640', '640']) expect((await ask({ width })).status).toBe(200);
    expect(asked).toBe(1);
    answer = gone;
    now += 60_001;
    expect((await ask()).status).toBe(404);
  });
  test('keeps serving it while its host responds with 403, and checks once an hour', async () => {
    answer = (res) => res.writeHead(403).end();
    now += hour + 1;
    for (const width of ['640', '640']) expect((await ask({ width })).status).toBe(200);
    now += hour - 2;
    expect((await ask()).status).toBe(200);
    expect(asked).toBe(1);
  });
  test('serves the replacement after an hour, and makes it once', async () => {
    const other = await sharp({ create: { width: 800, height: 800, channels: 3, background: '#339' } })
      .jpeg()
      .toBuffer();
    const replaced = new Date(now + hour / 2).toUTCString();
    answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': replaced }).end(other);
    now += hour + 60_000;
    for (let times = 0; times < 3; times++) {
      const { body } = await ask();
      expect(await sharp(body as Uint8Array).metadata()).toMatchObject({ width: 640, height: 640 });
      now += hour + 60_000;
    }
    expect(images.made()).toBe(4);
  });
  test('makes no size again if the original is unchanged', async () => {
    const before = new Date(now - 30 * 24 * hour).toUTCString();
    answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': before }).end(photo);
    for (const name of await readdir(dir)) if (name.endsWith('.src')) await rm(path.join(dir, name));
    await images.close();
    now += hour + 60_000;
    images = await open();
    expect((await ask()).status).toBe(200);
    expect([images.made(), asked]).toEqual([0, 1]);
  });
  describe('and WordPress announces the change', () => {
    const told = (addresses = [`${address()}?ver=2`]) =>
      images.changed(changedFiles(new Set(['latest', ...fileTags(addresses, host())])));
    test('removes it at once, in every size and from the disk', async () => {
      answer = gone;
      await told();
      expect((await ask()).status).toBe(404);
      expect((await ask({ width: '256' }, 'image/webp')).status).toBe(404);
      expect(await readdir(dir)).toEqual([]);
      expect(asked).toBe(1);
    });
    test('removes it even if the site restarts before the next request', async () => {
      answer = gone;
      await told();
      await images.close();
      images = await open();
      expect((await ask()).status).toBe(404);
    });
    test('serves the replacement at once, even if its date is minutes in the past', async () => {
      const other = await square();
      const replaced = new Date(now - 200_000).toUTCString();
      answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': replaced }).end(other);
      await told();
      for (let times = 0; times < 3; times++) {
        const { body } = await ask();
        expect(await sharp(body as Uint8Array).metadata()).toMatchObject({ width: 640, height: 640 });
      }
      expect(images.made()).toBe(4);
    });
    test('does not keep a size that was being made from the old original', async () => {
      const { toBuffer } = sharp.prototype;
      const [started, replaced] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const encoding = vi.spyOn(sharp.prototype, 'toBuffer') as unknown as MockInstance<(this: Sharp) => unknown>;
      encoding.mockImplementationOnce(async function (this: Sharp) {
        started.resolve();
        await replaced.promise;
        return toBuffer.call(this);
      });
      onTestFinished(() => encoding.mockRestore());
      const before = ask({ width: '384' });
      await started.promise;
      const other = await square();
      const at = new Date(now).toUTCString();
      answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': at }).end(other);
      now += 1000;
      await told();
      const sizeOf = async (asked: ReturnType<typeof ask>) => sharp((await asked).body as Uint8Array).metadata();
      expect(await sizeOf(ask({ width: '256' }, 'image/webp'))).toMatchObject({ width: 256, height: 256 });
      replaced.resolve();
      await before;
      expect(await sizeOf(ask({ width: '384' }))).toMatchObject({ width: 384, height: 384 });
    });
    test('does not keep an original that was being fetched', async () => {
      await images.close();
      await rm(dir, { recursive: true });
      images = await open();
      const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      answer = (res) => {
        arrived.resolve();
        void released.promise.then(() => res.writeHead(200, { 'content-type': 'image/jpeg' }).end(photo));
      };
      const before = ask();
      await arrived.promise;
      answer = gone;
      const changes = told();
      released.resolve();
      await Promise.all([before, changes]);
      expect((await ask()).status).toBe(404);
    });
    test('checks once and makes no size again if the file is unchanged', async () => {
      const before = new Date(now - 30 * 24 * hour).toUTCString();
      answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': before }).end(photo);
      await told();
      for (const width of ['640', '640']) expect((await ask({ width })).status).toBe(200);
      expect([images.made(), asked]).toEqual([3, 1]);
    });
    test('keeps serving it while WordPress is down, and checks again after a minute', async () => {
      answer = (res) => res.writeHead(503).end();
      await told();
      expect((await ask()).status).toBe(200);
      answer = gone;
      now += 60_001;
      expect((await ask()).status).toBe(404);
    });
    test('removes it at once after an announcement that names no pictures', async () => {
      answer = gone;
      await images.changed(changedFiles(new Set(['pictures'])));
      expect((await ask()).status).toBe(404);
    });
    test('does not check a picture that was not named', async () => {
      answer = gone;
      await told([address().replace('deleted', 'other'), 'nonsense']);
      expect((await ask()).status).toBe(200);
      expect(asked).toBe(0);
    });
    test('does not trust a check that began before the announcement', async () => {
      let release = () => {};
      const waits = new Promise<void>((done) => {
        release = done;
      });
      now += hour + 1;
      const arrived = new Promise<void>((done) => {
        answer = (res) => {
          done();
          void waits.then(() => res.writeHead(200, { 'content-type': 'image/jpeg' }).end());
        };
      });
      const before = ask();
      await arrived;
      await told();
      answer = gone;
      const after = ask();
      await vi.waitFor(() => expect(asked).toBe(2));
      release();
      expect((await before).status).toBe(200);
      expect((await after).status).toBe(404);
      expect((await ask()).status).toBe(404);
    });
    describe.each<[string, Answer]>([
      ['missing', gone],
      ['not a picture', (res) => res.writeHead(200, { 'content-type': 'image/jpeg' }).end('text')],
      ['damaged', (res) => res.writeHead(200, { 'content-type': 'image/jpeg' }).end(photo.subarray(0, 2000))],
    ])('of a file that was %s', (_, refusal) => {
      const url = () => address().replace('deleted', 'refused');
      const sizes = [{ width: '640' }, { width: '256' }];
      const statuses = async () => {
        const answers = [];
        for (const size of sizes) answers.push(await ask({ url: url(), ...size }));
        return answers.map(({ status }) => status);
      };
      beforeEach(async () => {
        answer = refusal;
        expect(await statuses()).toEqual([404, 404]);
        const at = new Date(now).toUTCString();
        answer = (res) => res.writeHead(200, { 'content-type': 'image/jpeg', 'last-modified': at }).end(photo);
        expect(await statuses()).toEqual([404, 404]);
      });
      test('serves the replacement at once, in every size', async () => {
        await told([url()]);
        expect(await statuses()).toEqual([200, 200]);
      });
      test('serves the replacement at once after an announcement that names no pictures', async () => {
        await images.changed(changedFiles(new Set(['pictures'])));
        expect(await statuses()).toEqual([200, 200]);
      });
    });
    test('does not refuse a size because the old original could not be read', async () => {
      const [started, replaced] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const encoding = vi.spyOn(sharp.prototype, 'toBuffer').mockImplementationOnce(async () => {
        started.resolve();
        await replaced.promise;
        throw new Error('VipsJpeg: premature end of JPEG image');
      });
      onTestFinished(() => encoding.mockRestore());
      const before = ask({ width: '384' });
      await started.promise;
      await told();
      replaced.resolve();
      expect((await before).status).toBe(404);
      expect((await ask({ width: '384' })).status).toBe(200);
    });
    test('tags the picture for a CDN with the tag of its announcement, and with that of all pictures', async () => {
      await images.close();
      images = await createImages({
        dir,
        maxBytes: 20e6,
        allowedHosts: [],
        trustedHost: host(),
        log: silent,
        cdnHeadersOf: (tags, varies) => ({ 'cache-tag': tags.join(','), 'x-varies': String(varies) }),
      });
      const { headers } = await ask();
      const social = await images.handle(new URLSearchParams({ url: address(), crop: 'social' }), 'image/avif');
      expect([headers.vary, headers['x-varies']]).toEqual(['Accept', 'true']);
      // A card for social networks has one format.
      expect([social.headers.vary, social.headers['x-varies']]).toEqual([undefined, 'false']);
      const own = `picture:${createHash('sha256').update(address()).digest('hex')}`;
      expect(headers['cache-tag']).toBe(`${own},pictures`);
      expect(fileTags([`${address()}?ver=2`], host())).toEqual([own]);
    });
  });
  test('deletes every size when a request for a new size finds the original gone', async () => {
    answer = gone;
    now += 8 * 24 * hour;
    expect((await ask({ width: '384' })).status).toBe(404);
    expect(await readdir(dir)).toEqual([]);
  });
  test('makes no new size of a deleted picture from the original on disk', async () => {
    answer = gone;
    now += hour + 1;
    expect((await ask({ width: '384' })).status).toBe(404);
  });
});
