import { expect, vi } from 'vitest';
import type { Newsroom } from './harness.ts';

/** Waits until every webhook has been sent. A webhook that a busy machine delayed is tried again, as WordPress's cron does. */
export async function untilSent(newsroom: Newsroom): Promise<void> {
  // `expect.poll` is refused outside a test, e.g. in `beforeAll`.
  const check = async () => {
    const left = await newsroom.php(
      `global $wpdb; return (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_table() . " WHERE state IN ( 'pending', 'sending' )" );`,
    );
    if (left > 0) await newsroom.cron();
    expect(left).toBe(0);
  };
  await vi.waitFor(check, { interval: 100, timeout: 180_000 });
}
