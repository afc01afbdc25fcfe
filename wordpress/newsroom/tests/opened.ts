/** A newsroom for all tests of a file, and the site's side of its webhooks. */
import { afterAll, beforeAll } from 'vitest';
import { type Newsroom, startNewsroom } from './harness.ts';
import { Receiver } from './receiver.ts';

export const receiver = new Receiver();
/** Set before the first test. */
export let newsroom: Newsroom;

/** Opens both before the tests of the file that calls it, and closes them after. */
export function withNewsroom(): void {
  beforeAll(async () => {
    await receiver.open();
    newsroom = await startNewsroom(receiver.url);
  });
  afterAll(async () => {
    await newsroom?.stop();
    await receiver.close();
  });
}
