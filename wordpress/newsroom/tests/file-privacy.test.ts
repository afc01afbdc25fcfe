/** The addresses of films and documents in the media library stay hidden, as those of recordings do (sound.test.ts). */
import { describe, expect, it } from 'vitest';
import { body, type CallOptions } from './harness.ts';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

/** Puts a file into the media library, as an upload to a subscriber story. @returns its number and address */
const upload = (name: string, content: string): Promise<[number, string]> =>
  newsroom.php(
    `require_once ABSPATH . 'wp-admin/includes/image.php'; require_once ABSPATH . 'wp-admin/includes/file.php'; require_once ABSPATH . 'wp-admin/includes/media.php';
    $story = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Filmed', 'post_status' => 'publish', 'post_content' => $input['body'], 'meta_input' => array( 'newsroom_access' => 'subscriber' ) ) );
    $file  = wp_tempnam( $input['name'] );
    file_put_contents( $file, base64_decode( $input['content'] ) );
    $id = media_handle_sideload( array( 'name' => $input['name'], 'tmp_name' => $file ), $story );
    return array( $id, wp_get_attachment_url( $id ) );`,
    { name, content: Buffer.from(content, 'latin1').toString('base64'), body: body() },
  );

describe.each([
  ['Vote.mp4', 'video', `\0\0\0\x18ftypmp42\0\0\0\0mp42isom${'\0'.repeat(64)}`],
  ['Report.pdf', 'application', '%PDF-1.4\n%%EOF\n'],
])('the file %s of a subscriber story', (name, kind, content) => {
  it('has an address that can’t be guessed, which only users who may upload files learn', async () => {
    const [id, url] = await upload(name, content);
    const [stem = '', extension] = name.split('.');
    expect(url).toMatch(new RegExp(`/${stem}-[a-z\\d]{20}\\.${extension}$`));
    const path = new URL(url).pathname;
    const letters = /-([a-z\d]{20})\./.exec(path)?.[1] ?? '';
    const ways = [
      (await newsroom.rest('/wp/v2/media?per_page=100')).text,
      (await newsroom.rest(`/wp/v2/media?media_type=${kind}`)).text,
      (await newsroom.rest(`/wp/v2/media/${id}`)).text,
      (await newsroom.rest('/wp/v2/media?per_page=100', { as: 'reporter' })).text,
      (await newsroom.rest(`/wp/v2/search?search=${stem}&per_page=100`)).text,
      (await newsroom.get(`/?attachment_id=${id}`, { redirect: 'manual' })).headers.get('location') ?? '',
      (await newsroom.get(`/?attachment_id=${id}`)).text,
      (await newsroom.get(`/?attachment_id=${id}&embed=true`)).text,
      (await newsroom.get('/?feed=rss2&post_type=articles')).text,
    ];
    for (const [at, text] of ways.entries()) expect(text, `way ${at}`).not.toContain(letters);
    // Not letter by letter, either: WordPress searches file names, too.
    const found = async (as?: CallOptions['as']) =>
      (await newsroom.rest(`/wp/v2/media?search=${letters.slice(0, 6)}`, { as })).json.map(
        (each: { id: number }) => each.id,
      );
    expect(await found()).toEqual([]);
    expect(await found('reporter')).toEqual([]);
    for (const as of ['editor', 'admin'] as const) {
      expect(await found(as), as).toEqual([id]);
      expect((await newsroom.rest(`/wp/v2/media/${id}`, { as })).json.source_url, as).toBe(url);
    }
  });
});

it('a recording with a cover adds no picture to the media library, because the picture would have the recording’s name', async () => {
  const picture = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64').toString('latin1');
  const cover = `\0image/gif\0\x03\0${picture}`;
  const frame = `APIC\0\0\0${String.fromCharCode(cover.length)}\0\0${cover}`;
  const tag = `ID3\x03\0\0\0\0\0${String.fromCharCode(frame.length)}${frame}`;
  // Four frames of silence: MPEG 1, layer 3, 128 kbit/s, 44.1 kHz.
  const sound = `\xff\xfb\x90\0${'\0'.repeat(413)}`.repeat(4);
  const [, url] = await upload('Talk.mp3', tag + sound);
  const letters = /-([a-z\d]{20})\./.exec(url)?.[1] ?? '';
  expect(letters).not.toBe('');
  const pictures: string[] = await newsroom.php(
    "return array_map( 'wp_get_attachment_url', get_posts( array( 'post_type' => 'attachment', 'post_status' => 'any', 'post_mime_type' => 'image', 'numberposts' => -1, 'fields' => 'ids' ) ) );",
  );
  expect(pictures.filter((each) => each.includes(letters))).toEqual([]);
});

it('a film can’t be uploaded by XML-RPC, where its name could be guessed', async () => {
  const bits = (before: string, name: string) =>
    newsroom.php(`${before} return wp_upload_bits( '${name}', null, 'x' )['error'];`);
  const remote = "define( 'XMLRPC_REQUEST', true );";
  expect(await bits(remote, 'vote.mp4')).toMatch(/media library/);
  expect([await bits(remote, 'vote.jpg'), await bits('', 'vote.mp4')]).toEqual([false, false]);
});

it('the archive of a plugin keeps its name, because WordPress names the plugin’s folder after it', async () => {
  const named = (before: string) =>
    newsroom.php(
      `${before} return apply_filters( 'wp_handle_upload_prefilter', array( 'name' => 'tool.zip' ) )['name'];`,
    );
  expect(await named("do_action( 'load-update.php' );")).toBe('tool.zip');
  expect(await named('')).toMatch(/^tool-[a-z\d]{20}\.zip$/);
});
