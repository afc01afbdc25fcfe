import { expect } from 'vitest';
import type { Newsroom } from './harness.ts';

/** Waits until every webhook has been sent. A webhook that a busy machine delayed is tried again, as WordPress's cron does. */
export async function untilSent(newsroom: Newsroom): Promise<void> {
  const count = async () => {
    const left = await newsroom.php(
      `global $wpdb; return (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_table() . " WHERE state IN ( 'pending', 'sending' )" );`,
    );
    if (left > 0) await newsroom.cron();
    return left;
  };
  await expect.poll(count, { interval: 100, timeout: 180_000 }).toBe(0);
}
