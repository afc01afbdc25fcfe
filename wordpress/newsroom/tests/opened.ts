/** A newsroom for all tests of a file, and the site's side of its webhooks. */
import { afterAll, beforeAll } from 'vitest';
import { type Newsroom, startNewsroom } from './harness.ts';
import { type Delivery, Receiver } from './receiver.ts';
import { untilSent } from './until-sent.ts';

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

/**
 * The first webhook that fits, once every webhook has been sent: if the site didn't answer one, WordPress sends none with the next changes
 * for half a minute, and only its cron tries again.
 */
export async function sentWebhook(fits: (body: Delivery['body']) => boolean): Promise<Delivery> {
  await untilSent(newsroom);
  return receiver.find(fits);
}

/** What a box of the classic editor prints. @param name of its function */
export const boxOf = (id: number, name: string): Promise<string> =>
  newsroom.php(`ob_start(); call_user_func( $input[1], get_post( $input[0] ) ); return ob_get_clean();`, [id, name]);

/** Saves a document with the fields of its boxes, as the classic editor does. */
export const submitBoxes = (id: number, fields: object): Promise<unknown> =>
  newsroom.php(
    `$_POST = wp_slash( array( 'newsroom_fields_nonce' => wp_create_nonce( 'newsroom_fields_' . $input[0] ) ) + $input[1] ); newsroom_save_boxes( $input[0], get_post( $input[0] ) ); $_POST = array(); return 1;`,
    [id, fields],
  );
