import { expect, it } from 'vitest';
import { createLocalIngester, warmUpIngest } from './ingester.server.ts';

it('the ingest warm-up sanitizes a complete story each time, and makes no request', async () => {
  const measured: string[] = [];
  const ingester = createLocalIngester({
    wordpress: 'https://wp.example',
    site: 'https://paper.example',
    frameHosts: [],
    measure: async (url) => {
      measured.push(url);
      return null;
    },
  });
  const bodies: string[] = [];
  await warmUpIngest({
    async document(type, raw) {
      const result = await ingester.document(type, raw);
      if (result.kind !== 'document') throw new Error(JSON.stringify(result));
      bodies.push(result.document.bodyHtml);
      return result;
    },
  });
  await ingester.close();
  expect(bodies.length).toBeGreaterThan(5);
  expect(new Set(bodies).size).toBe(1);
  for (const kept of ['<h2', '<figure', '<table', '<blockquote', 'Something to be taken out']) {
    expect(bodies[0]).toContain(kept);
  }
  expect(bodies[0]).not.toMatch(/script|onclick|style=/);
  expect(measured).toEqual([]);
});
