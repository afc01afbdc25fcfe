/** What WordPress tells everyone about fronts: only what readers see now. */
import { expect, it } from 'vitest';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

it('callers other than the site see only slots that are in effect, and stories that are published', async () => {
  const made = await newsroom.php(`
    update_option( 'timezone_string', 'America/New_York' );
    $insert = static function ( $title, $more = array() ) { return wp_insert_post( $more + array( 'post_type' => 'articles', 'post_title' => $title, 'post_status' => 'publish' ) ); };
    $at = static function ( $hours ) { return current_datetime()->modify( $hours . ' hours' )->format( 'Y-m-d\\TH:i' ); };
    return array(
      'open' => $insert( 'Open' ), 'other' => $insert( 'Other' ), 'draft' => $insert( 'Draft', array( 'post_status' => 'draft' ) ), 'locked' => $insert( 'Locked', array( 'post_password' => 'x' ) ),
      'later' => $at( '+3' ), 'earlier' => $at( '-3' ),
    );`);
  const { open, other, draft, locked, later, earlier } = made;
  const related = [
    { story: other, url: '', title: 'Related open' },
    { story: draft, url: '', title: 'Related secret' },
    { story: locked, url: '', title: 'Related secret' },
    { story: 0, url: 'https://a.example/page', title: 'A page' },
  ];
  const slot = (story: number, headline: string, part: object = {}) => ({ kind: 'second', story, headline, ...part });
  const slots = [
    slot(open, 'Without times'),
    slot(open, 'Within its times', { from: earlier, until: later }),
    slot(open, 'Embargoed secret', { from: later }),
    slot(open, 'Ended secret', { until: earlier }),
    slot(draft, 'Drafted secret'),
    slot(locked, 'Locked secret'),
    slot(open, 'With links', { kind: 'package', related }),
  ];
  const write = async (path: string, body: object) =>
    (await newsroom.rest(`/newsroom/v1/front/home/${path}`, { as: 'admin', method: 'POST', body })).status;
  expect([await write('draft', { version: 0, slots }), await write('publish', { version: 1 })]).toEqual([200, 200]);

  for (const as of [undefined, 'reporter'] as const) {
    const answer = await newsroom.rest('/wp/v2/fronts', { as });
    expect(answer.json[0].front.slots.map(({ headline }: { headline: string }) => headline)).toEqual([
      'Without times',
      'Within its times',
      'With links',
    ]);
    expect(answer.json[0].front.slots[2].related).toEqual([related[0], related[3]]);
    expect(answer.text).not.toMatch(/secret/i);
    const one = await newsroom.rest(`/wp/v2/fronts/${answer.json[0].id}`, { as });
    expect([one.json.front.slots.length, /secret/i.test(one.text)]).toEqual([3, false]);
  }
  const [site] = (await newsroom.rest('/wp/v2/fronts', { as: 'site' })).json;
  expect(site.front.slots).toMatchObject(slots.map(({ headline }) => ({ headline })));
  expect(site.front.slots[6].related).toHaveLength(4);
});
