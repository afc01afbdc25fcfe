import sharp from 'sharp';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ask,
  asked,
  files,
  host,
  images,
  openImages,
  uploads,
  useImageService,
} from '../../../tests/world/image-service.ts';
import { isPrivateAddress } from './source.server.ts';

useImageService();

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
  test('AVIF in widths for phones smaller and no less exact than a quick encoder makes it', async () => {
    const shapes = Array.from({ length: 150 }, (_, at) => {
      const [x, y, size, tone] = [at * 37, at * 59, at * 13, at * 29];
      return `<circle cx="${x % 800}" cy="${y % 450}" r="${5 + (size % 60)}" fill="rgb(${tone % 256},${x % 256},${y % 256})"/>`;
    });
    const drawing = await sharp(
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="800" height="450">${shapes.join('')}</svg>`),
    )
      .flatten({ background: '#fff' })
      .png()
      .toBuffer();
    files.set('/drawing.png', (_, res) => res.setHeader('content-type', 'image/png').end(drawing));
    const sized = () => sharp(drawing).resize({ width: 640 });
    const served = (await ask('/drawing.png')).body as Uint8Array;
    const quick = await sized().avif({ quality: 54, effort: 0, chromaSubsampling: '4:2:0' }).toBuffer();
    const exact = await sized().raw().toBuffer();
    const distance = async (file: Uint8Array): Promise<number> =>
      (await sharp(file).raw().toBuffer()).reduce((sum, value, at) => sum + (value - (exact[at] ?? 0)) ** 2, 0);
    expect(served.length).toBeLessThan(0.9 * quick.length);
    expect(await distance(served)).toBeLessThan(await distance(quick));
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
    ['top of a very tall picture', { width: 200, height: 4000 }, { left: 50, top: 2000 }],
    ['middle of a very wide picture', { width: 6000, height: 100 }, { left: 100, top: 20 }],
  ])('a social card of the %s, whatever is elsewhere', async (_, size, place) => {
    const red = { create: { width: 80, height: 60, channels: 3 as const, background: '#f00' } };
    const picture = await sharp({ create: { ...size, channels: 3, background: '#888' } })
      .composite([{ input: red, ...place }])
      .png()
      .toBuffer();
    files.set('/long.png', (_req, res) => res.setHeader('content-type', 'image/png').end(picture));
    const { body } = await ask('/long.png', { crop: 'social' });
    const { channels } = await sharp(body as Uint8Array).stats();
    expect(channels.map(({ max, min }) => max - min < 8)).toEqual([true, true, true]);
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
  test('a picture that is taller than AVIF and WebP allow, in every size and format', async () => {
    const tall = await sharp({ create: { width: 270, height: 18_000, channels: 3, background: '#c93' } })
      .png()
      .toBuffer();
    files.set('/tall.png', (_, res) => res.setHeader('content-type', 'image/png').end(tall));
    const sizeOf = async (width: string, accept: string) => {
      const meta = await sharp((await ask('/tall.png', { width }, accept)).body as Uint8Array).metadata();
      return [meta.width, meta.height];
    };
    expect(await sizeOf('128', 'image/avif')).toEqual([128, 8533]);
    for (const accept of ['image/avif', 'image/webp', '*/*'])
      expect(await sizeOf('256', accept)).toEqual([246, 16_383]);
  });
  test('the other sizes of a picture of which one size can’t be made, and that one after ingest has found the picture', async () => {
    const encoding = vi.spyOn(sharp.prototype, 'toBuffer').mockRejectedValueOnce(new Error('timeout'));
    onTestFinished(() => encoding.mockRestore());
    const status = async (size: Record<string, string>) => (await ask('/photo.jpg', size)).status;
    expect([await status({ width: '1080' }), await status({ width: '1080' })]).toEqual([404, 404]);
    expect([await status({ width: '640' }), await status({ crop: 'social' })]).toEqual([200, 200]);
    await images.measure(`http://${host}${uploads}/photo.jpg`);
    expect(await status({ width: '1080' })).toBe(200);
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
      await openImages({ timeoutMs: 200 });
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
    await openImages({ log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } });
    await ask(file);
    expect(lines).toEqual([[level, expect.objectContaining({ reason })]]);
  });

  test('a public host name that resolves to a private address', async () => {
    await images.close();
    await openImages({
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
    await openImages({ allowedHosts: [host] });
    const answer = await images.handle(new URLSearchParams({ url: `http://${host}/photo.jpg`, width: '640' }), '*/*');
    expect(answer.status).toBe(200);
  });
});
