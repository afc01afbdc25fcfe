/**
 * One of the other processes of `npm run press`: a process renders on one core only. It renders the pages that its parent sends
 * (`prerender-processes.ts`), and ends with its parent.
 */
import { openPressCommand } from './prerender.ts';
import type { RenderOrder, RenderReport } from './prerender-processes.ts';

const concurrency = Number(process.argv[2]);
const stopping = new AbortController();
const stop = (): void => stopping.abort();
process.once('disconnect', stop);
// A terminal's interrupt reaches the parent, too, which stops its processes.
process.on('SIGINT', stop);

const report = (what: RenderReport): void => {
  if (process.connected) process.send?.(what);
};

async function work(): Promise<void> {
  const { press, close } = await openPressCommand(process.env, { concurrency, signal: stopping.signal });
  try {
    await new Promise<void>((resolve, reject) => {
      process.once('disconnect', resolve);
      process.on('message', (order: RenderOrder) => {
        if (order === 'stop') return stop();
        if (order === 'end') return resolve();
        press
          .warm(order.keys, { concurrency, signal: stopping.signal })
          .then((done) => report({ done, pages: order.keys.length }), reject);
      });
      report('ready');
    });
  } finally {
    await close();
  }
}

try {
  await work();
} catch (error) {
  report({ problem: error instanceof Error ? error.message : String(error) });
} finally {
  process.off('disconnect', stop);
  if (process.connected) process.disconnect();
}
