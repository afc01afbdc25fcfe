import { readdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ask,
  asked,
  dir,
  files,
  host,
  images,
  openImages,
  uploads,
  useImageService,
} from '../../../tests/world/image-service.ts';

useImageService();

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
    await openImages();
    expect((await ask('/photo.jpg')).body).toEqual(first.body);
    expect(asked).toEqual(['/photo.jpg']);
    expect((await readdir(dir)).some((name) => name.endsWith('.part'))).toBe(false);
  });
  test('uses an original that is over a week old while its host responds with 503, but not after a 404', async () => {
    await images.close();
    let now = Date.now();
    const photo = files.get('/photo.jpg') as (req: IncomingMessage, res: ServerResponse) => void;
    files.set('/old.jpg', photo);
    await openImages({ now: () => now });
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
    await openImages({ maxBytes: 30_000 });
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
    await openImages({ now: () => now });
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
    await openImages();
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
