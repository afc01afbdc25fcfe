/** Blocks that WordPress's own scripts bring to life, as the site receives them: it doesn't load those scripts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { body, type Newsroom, startNewsroom } from './harness.ts';

let newsroom: Newsroom;
beforeAll(async () => {
  newsroom = await startNewsroom('http://127.0.0.1:9');
});
afterAll(() => newsroom?.stop());

it('each track of a playlist block becomes an audio player, and only the site gets restricted files', async () => {
  const track = (attributes: object) =>
    `<!-- wp:playlist-track ${JSON.stringify(attributes).replaceAll('<', '\\u003c')} /-->`;
  const tracks = [
    track({
      id: 5,
      src: 'https://files.example/one.mp3?a=1&b=2',
      title: 'One <b>&amp;</b> "all"',
      artist: 'Band',
      length: '3:45',
    }),
    track({ id: 6, src: 'https://files.example/two.mp3' }),
    track({ id: 7, src: 'javascript:alert(1)', title: 'Three' }),
  ];
  const content = `<!-- wp:playlist --><figure class="wp-block-playlist"><ol class="wp-block-playlist__tracklist">${tracks.join('')}</ol></figure><!-- /wp:playlist -->`;
  const id = await newsroom.php(
    `return wp_insert_post( wp_slash( array( 'post_type' => 'articles', 'post_title' => 'Heard', 'post_status' => 'publish', 'post_content' => $input ) ) );`,
    content,
  );
  const { rendered } = (await newsroom.rest(`/wp/v2/articles/${id}`)).json.content;
  const items = [...rendered.matchAll(/<li class="wp-block-playlist-track">(.*?)<\/li>/gs)].map(([, item]) => item);
  expect(items.slice(0, 2)).toEqual([
    '<p>One &amp; &quot;all&quot;, Band (3:45)</p><audio controls preload="none" aria-label="One &amp; &quot;all&quot;" src="https://files.example/one.mp3?a=1&#038;b=2"></audio>',
    '<p>Untitled</p><audio controls preload="none" aria-label="Untitled" src="https://files.example/two.mp3"></audio>',
  ]);
  expect(rendered).not.toMatch(/javascript:|<audio[^>]*src=""/);
  // In a story for subscribers only the site gets the files' addresses.
  await newsroom.php(
    `update_post_meta( $input[0], 'newsroom_access', 'subscriber' ); return wp_update_post( wp_slash( array( 'ID' => $input[0], 'post_content' => $input[1] ) ) );`,
    [id, `${content}\n\n${body()}\n\n${content}`],
  );
  const read = async (as?: 'site') => (await newsroom.rest(`/wp/v2/articles/${id}`, as ? { as } : {})).text;
  expect(await read('site')).toContain('one.mp3');
  expect(await read()).not.toContain('.mp3');
});
