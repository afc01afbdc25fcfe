import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silent } from '../logging.ts';
import { createDeliveryQueue, type DeliveryOptions, type Outcome } from './delivery.server.ts';

const accepted: Outcome = { kind: 'accepted' };
const failed: Outcome = { kind: 'failed', message: 'down' };

/** A queue whose requests wait until the test answers them. */
function stand(options: Partial<DeliveryOptions> = {}) {
  const batches: string[][] = [];
  const answers: ((outcome: Outcome) => void)[] = [];
  const queue = createDeliveryQueue({
    name: 'Test',
    batchSize: 100,
    collectMs: 250,
    limit: 1000,
    overflow: () => [],
    tries: Number.POSITIVE_INFINITY,
    backOffMs: [1000, 8000],
    misconfiguredMs: 60_000,
    closeMs: 5000,
    random: () => 1,
    log: silent,
    send: (batch, signal) => {
      batches.push([...batch]);
      return new Promise((resolve) => {
        answers.push(resolve);
        signal.addEventListener('abort', () => resolve({ kind: 'failed', message: 'broken off' }));
      });
    },
    ...options,
  });
  const answer = async (outcome: Outcome): Promise<void> => {
    const next = answers.shift();
    if (!next) throw new Error('No request is under way.');
    next(outcome);
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Adds notices, and waits until they are sent. */
  const send = async (notices: readonly string[]): Promise<void> => {
    queue.add(notices);
    await vi.advanceTimersByTimeAsync(250);
  };
  return { queue, batches, answer, send };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the delivery queue, while collecting notices', () => {
  test('merges equal notices and sends all in one request after 250 ms', async () => {
    const { queue, batches, answer } = stand();
    queue.add(['a', 'b']);
    await vi.advanceTimersByTimeAsync(249);
    queue.add(['a', 'c']);
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches).toEqual([['a', 'b', 'c']]);
    await answer(accepted);
    await queue.idle();
    expect(queue.stats()).toMatchObject({ accepted: 3, failed: 0, pending: 0, requests: 1, problem: null });
  });

  test('does not delay sending while more notices keep arriving', async () => {
    const { queue, batches } = stand();
    for (let at = 0; at < 250; at += 50) {
      queue.add([`at-${at}`]);
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(batches).toHaveLength(1);
  });

  test('sends a notice again if it is added while its request is in flight', async () => {
    const { queue, batches, answer, send } = stand();
    await send(['a']);
    queue.add(['a']);
    expect(queue.stats().pending).toBe(2);
    await answer(accepted);
    expect(batches).toEqual([['a'], ['a']]);
    await answer(accepted);
    expect(queue.stats()).toMatchObject({ accepted: 2, pending: 0 });
  });

  test('sends one request at a time, none larger than the batch size', async () => {
    const { batches, answer, send } = stand({ batchSize: 2 });
    await send(['a', 'b', 'c', 'd', 'e']);
    expect(batches).toEqual([['a', 'b']]);
    await answer(accepted);
    await answer(accepted);
    await answer(accepted);
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });
});

describe('the delivery queue, after failures', () => {
  test('waits longer after each failure, up to a maximum, and keeps the notice', async () => {
    const { queue, batches, answer, send } = stand();
    await send(['a']);
    for (const wait of [1000, 2000, 4000, 8000, 8000]) {
      const before = batches.length;
      await answer(failed);
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(batches).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(batches).toHaveLength(before + 1);
    }
    expect(queue.stats()).toMatchObject({ pending: 1, failed: 0, failedRequests: 5, problem: 'down' });
    await answer(accepted);
    expect(queue.stats()).toMatchObject({ pending: 0, accepted: 1, problem: null });
  });

  test('tries each notice three times, however often others in its batch failed', async () => {
    const { queue, batches, answer, send } = stand({ tries: 3, batchSize: 2 });
    await send(['a']);
    await answer(failed);
    await vi.advanceTimersByTimeAsync(1000);
    await answer(failed);
    // Late: the other items have used two of their attempts.
    queue.add(['b', 'c']);
    await vi.advanceTimersByTimeAsync(8000);
    await answer(failed);
    expect(queue.stats()).toMatchObject({ failed: 1, pending: 2 });
    for (let more = 0; more < 5 && queue.stats().pending > 0; more++) {
      await vi.advanceTimersByTimeAsync(8000);
      await answer(failed);
    }
    expect(queue.stats()).toMatchObject({ failed: 3, pending: 0 });
    for (const notice of ['a', 'b', 'c']) expect(batches.filter((batch) => batch.includes(notice))).toHaveLength(3);
  });

  test('follows Retry-After up to an hour', async () => {
    const { batches, answer, send } = stand();
    await send(['a']);
    await answer({ kind: 'failed', message: 'slow down', retryAfterMs: 30_000 });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(batches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches).toHaveLength(2);
    await answer({ kind: 'failed', message: 'slow down', retryAfterMs: 365 * 86_400_000 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(batches).toHaveLength(3);
  });

  test('gives up a batch after its tries and continues with the next', async () => {
    const { queue, batches, answer, send } = stand({ tries: 2, batchSize: 1 });
    await send(['a']);
    await answer(failed);
    await vi.advanceTimersByTimeAsync(1000);
    await answer(failed);
    expect(queue.stats()).toMatchObject({ failed: 1, pending: 0 });
    await send(['b']);
    expect(batches.at(-1)).toEqual(['b']);
  });

  test('retries when sending throws', async () => {
    const send = vi.fn(async (): Promise<Outcome> => accepted).mockRejectedValueOnce(new Error('broken'));
    const { queue, send: sent } = stand({ send });
    await sent(['a']);
    expect(queue.stats().problem).toBe('broken');
    await vi.advanceTimersByTimeAsync(1000);
    expect(queue.stats()).toMatchObject({ accepted: 1, problem: null });
  });

  test('logs a wrong setting once, and again only after a success', async () => {
    const error = vi.fn();
    const { queue, answer, send } = stand({ log: { ...silent, error } });
    const wrong: Outcome = { kind: 'misconfigured', message: 'TOKEN is wrong' };
    await send(['a']);
    await answer(wrong);
    await vi.advanceTimersByTimeAsync(60_000);
    await answer(wrong);
    expect(error).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    await answer(accepted);
    await send(['b']);
    await answer(wrong);
    expect(error).toHaveBeenCalledTimes(2);
    expect(queue.stats()).toMatchObject({ accepted: 1, pending: 1, failed: 0 });
  });

  test('replaces waiting notices with coarser ones when there are too many', async () => {
    const { queue, batches, answer, send } = stand({ limit: 10, overflow: () => ['all'] });
    await send(['a']);
    for (let index = 0; index < 11; index++) queue.add([`n-${index}`]);
    expect(queue.stats().pending).toBe(2);
    await answer(failed);
    await vi.advanceTimersByTimeAsync(1000);
    // Failed items aren't forgotten, either.
    expect(batches.at(-1)?.sort()).toEqual(['a', 'all']);
  });

  test('drops and counts waiting notices when there are too many and no coarser ones', () => {
    const { queue } = stand({ limit: 10 });
    queue.add(Array.from({ length: 11 }, (_, index) => `n-${index}`));
    expect(queue.stats()).toMatchObject({ failed: 11, pending: 0 });
  });
});

describe('the delivery queue, when closing', () => {
  test('sends waiting notices at once', async () => {
    const { queue, batches, answer } = stand();
    queue.add(['a']);
    const closed = queue.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(batches).toEqual([['a']]);
    await answer(accepted);
    expect(await closed).toBe(0);
    queue.add(['late']);
    expect(queue.stats().pending).toBe(0);
  });

  test('ends a long wait early for one last try', async () => {
    const { queue, batches, answer, send } = stand();
    await send(['a']);
    await answer({ kind: 'failed', message: 'slow down', retryAfterMs: 600_000 });
    const closed = queue.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(batches).toHaveLength(2);
    await answer(failed);
    expect(await closed).toBe(1);
    expect(queue.stats()).toMatchObject({ pending: 0, failed: 1 });
  });

  test('aborts a request that takes too long', async () => {
    const { queue, send } = stand({ closeMs: 5000 });
    await send(['a', 'b']);
    const closed = queue.close();
    await vi.advanceTimersByTimeAsync(5000);
    expect(await closed).toBe(2);
  });
});
