import sharp, { type Sharp } from 'sharp';
import { describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
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

useImageService();

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
    await openImages({ timeoutMs: 20_000 });
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
    await openImages({ now: () => now });
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
