/**
 * One share of `npm run press`, in a process of its own: a process renders on one core only. Its parent sends the share as the first
 * message, and any other message or the parent's end stops it. It answers with its progress, and last with its result.
 */
import type { Progress } from '../../press/scheduler/warm-up.server.ts';
import { prerender } from './prerender.ts';
import type { ShareOrder, ShareReport } from './prerender-shares.ts';

async function work(order: ShareOrder): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('message', stop);
  process.once('disconnect', stop);
  // A terminal's interrupt reaches the parent too, which stops its shares.
  process.on('SIGINT', stop);
  const report = (what: ShareReport): void => {
    if (process.connected) process.send?.(what);
  };
  try {
    const onProgress = (progress: Progress): void => report({ progress });
    report({ result: await prerender(process.env, { ...order, signal: stopping.signal, onProgress }) });
  } catch (error) {
    report({ problem: error instanceof Error ? error.message : String(error) });
  } finally {
    process.off('disconnect', stop);
    if (process.connected) process.disconnect();
  }
}

process.once('message', (order: ShareOrder) => void work(order));
