import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { coreFolder, ensureSandbox } from '../setup.mjs';
import { bootWordPress } from './boot.ts';
import { isTaskDue, makeCronDriver } from './cron.ts';

it('the cron driver runs once for several requests, and once more for a request during the run', async () => {
  const runs: (() => void)[] = [];
  const cron = makeCronDriver(() => new Promise<void>((resolve) => runs.push(resolve)));
  const first = cron.run();
  void cron.run();
  void cron.run();
  expect(runs).toHaveLength(1);
  runs[0]?.();
  await vi.waitFor(() => expect(runs).toHaveLength(2));
  runs[1]?.();
  await first;
  await cron.stop();
  await cron.run();
  expect(runs).toHaveLength(2);
});

it('the cron driver continues after a failed run', async () => {
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  let runs = 0;
  const cron = makeCronDriver(() => {
    runs += 1;
    return runs === 1 ? Promise.reject(new Error('no database')) : Promise.resolve();
  });
  await cron.run();
  expect(errors).toHaveBeenCalledWith(expect.stringContaining('no database'));
  errors.mockRestore();
  await cron.run();
  expect(runs).toBe(2);
});

it('the cron driver runs at its interval only when a task is due, and always on request', async () => {
  vi.useFakeTimers();
  try {
    let runs = 0;
    let due = false;
    const cron = makeCronDriver(
      async () => {
        runs += 1;
      },
      () => due,
    );
    await cron.runEvery(1000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(runs).toBe(0);
    await cron.run();
    expect(runs).toBe(1);
    due = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toBe(2);
    await cron.stop();
  } finally {
    vi.useRealTimers();
  }
});

it('the cron driver runs once before it starts its interval', async () => {
  let runs = 0;
  const cron = makeCronDriver(async () => {
    runs += 1;
  });
  await cron.runEvery(60_000);
  expect(runs).toBe(1);
  await cron.stop();
});

it('isTaskDue reads the next due time from a file, and counts a missing or empty file as due', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cron-'));
  const note = path.join(folder, 'next-task');
  try {
    expect(isTaskDue(note)).toBe(true);
    for (const [text, due] of [
      ['1000', true],
      ['1001', false],
      ['none', false],
      // Half a note counts as none.
      ['', true],
    ] as const) {
      fs.writeFileSync(note, text);
      expect(isTaskDue(note, 1_000_500), text).toBe(due);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

it('a scheduled post is published in a WordPress without visitors', async () => {
  const root = path.resolve(import.meta.dirname, '../..');
  await ensureSandbox({ root });
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'cron-'));
  const compiled = path.join(root, '.broadsheet', 'php');
  const wordpress = await bootWordPress({ core: coreFolder(root), data, port: 0, compiled });
  try {
    // WordPress immediately publishes posts that are due within a minute, so the test moves a later post's time into the past.
    const id = await wordpress.run(`
      $id = wp_insert_post( array( 'post_title' => 'Later', 'post_status' => 'future', 'post_date_gmt' => gmdate( 'Y-m-d H:i:s', time() + 3600 ) ) );
      global $wpdb;
      $wpdb->update( $wpdb->posts, array( 'post_date_gmt' => gmdate( 'Y-m-d H:i:s', time() - 5 ) ), array( 'ID' => $id ) );
      wp_clear_scheduled_hook( 'publish_future_post', array( $id ) );
      wp_schedule_single_event( time() - 1, 'publish_future_post', array( $id ) );
      echo $id;`);
    const status = () => wordpress.run('echo get_post_status( $input );', Number(id));
    expect(await status()).toBe('future');
    const note = path.join(data, 'database', 'next-task');
    expect(isTaskDue(note)).toBe(true);
    await wordpress.cron.runEvery(100);
    await vi.waitFor(async () => expect(await status()).toBe('publish'), { interval: 100 });
    await wordpress.cron.run();
    expect(isTaskDue(note)).toBe(false);
  } finally {
    await wordpress.stop();
    fs.rmSync(data, { recursive: true, force: true });
  }
}, 180_000);
