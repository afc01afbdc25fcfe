/** An editor's name in fronts and in the breaking-news alert: WordPress's personal data tools export and erase it. */
import { beforeEach, expect, it } from 'vitest';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

const email = 'cy@newsroom.invalid';
let user = 0;

/** Runs PHP as an editor. */
const as = (id: number, code: string) => newsroom.php(`wp_set_current_user( $input ); ${code}`, id);
/** What WordPress's own tools find or remove, by every registered callback. */
const exported = (page = 1) =>
  newsroom.php(
    `$data = array(); foreach ( apply_filters( 'wp_privacy_personal_data_exporters', array() ) as $name => $exporter ) { if ( 0 === strpos( $name, 'newsroom-' ) ) { $data[ $name ] = call_user_func( $exporter['callback'], $input[0], $input[1] ); } } return $data['newsroom-fronts'];`,
    [email, page],
  );
const erased = () =>
  newsroom.php(
    `return call_user_func( apply_filters( 'wp_privacy_personal_data_erasers', array() )['newsroom-fronts']['callback'], $input, 1 );`,
    email,
  );
const names = async () => {
  const { json } = await newsroom.rest('/newsroom/v1/front/home/history', { as: 'admin' });
  return json.fronts.map(({ by }: { by: string }) => by);
};
const values = (item: { data: { value: string }[] }) => item.data[0]?.value;

beforeEach(async () => {
  user = await newsroom.php(
    `global $wpdb; require_once ABSPATH . 'wp-admin/includes/user.php';
    $wpdb->query( 'DELETE FROM ' . newsroom_front_table() ); delete_option( 'newsroom_alert' );
    $old = get_user_by( 'email', $input ); if ( $old ) { wp_delete_user( $old->ID ); }
    return wp_insert_user( array( 'user_login' => 'cy', 'user_pass' => 'x', 'user_email' => $input, 'display_name' => 'Cy Park', 'role' => 'editor' ) );`,
    email,
  );
  await as(
    user,
    `newsroom_publish_front( 'home', newsroom_save_front( 'home', array(), 0 ) );
    return newsroom_start_alert( array( 'id' => wp_generate_uuid4(), 'text' => 'The bridge is closed', 'story' => 0, 'hours' => 1, 'mail' => '', 'push' => '' ) );`,
  );
});

it('exports the fronts and the alert of an editor, with their times', async () => {
  const { data, done } = await exported();
  expect(done).toBe(true);
  expect(data.map(values)).toEqual(['Home page (draft)', 'Home page (published)', 'The bridge is closed']);
  for (const { data: fields } of data) expect(Math.abs(Date.parse(fields[1].value) - Date.now())).toBeLessThan(120_000);
  await as(
    user,
    `for ( $n = 0; $n < 199; $n++ ) { newsroom_insert_front( 'home', 'kept', array(), time() ); } return 1;`,
  );
  expect(await exported()).toMatchObject({ done: false, data: { length: 201 } });
  expect(await exported(2)).toMatchObject({ done: true, data: { length: 1 } });
});

it('erases the name of an editor and keeps the fronts and the alert', async () => {
  await as(1, `newsroom_publish_front( 'home', 2 ); return 1;`);
  expect(await names()).toEqual(['The Editor', 'Cy Park']);
  expect(await erased()).toMatchObject({ items_removed: 3, done: true });
  expect(await names()).toEqual(['The Editor', 'a former user']);
  expect((await exported()).data).toEqual([]);
  expect(await newsroom.php(`return newsroom_running_alert();`)).toMatchObject({
    text: 'The bridge is closed',
    user: 0,
  });
});

it('does not name a colleague as the editor of a draft whose editor was erased', async () => {
  await as(user, `newsroom_save_front( 'home', array( array( 'id' => 'one' ) ), 2 ); return 1;`);
  await erased();
  await as(1, `newsroom_save_front( 'home', array( array( 'id' => 'two' ) ), 0, true ); return 1;`);
  expect(await newsroom.php(
    `global $wpdb; return $wpdb->get_col( 'SELECT user_id FROM ' . newsroom_front_table() . " WHERE state = 'kept'" );`,
  )).toEqual(['0']); // biome-ignore format: short
});

it('erases the name with the account', async () => {
  await newsroom.php(`require_once ABSPATH . 'wp-admin/includes/user.php'; return wp_delete_user( $input );`, user);
  const left = await newsroom.php(
    `global $wpdb; return array( (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_front_table() . " WHERE user_id = $input" ), newsroom_last_alert()['user'] );`,
    user,
  );
  expect(left).toEqual([0, 0]);
});
