/** The site is told about pictures whose files were deleted or replaced. */
import { beforeEach, describe, expect, it } from 'vitest';
import { take } from '../../../tests/world/ingest.ts';
import { newsroom, receiver, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

beforeEach(() => receiver.clear());

interface Upload {
  readonly id: number;
  readonly url: string;
}

let uploads = 0;
/** A picture with one smaller size, as WordPress writes it; its files are as large as they have to be. */
function upload(name = `picture-${++uploads}`): Promise<Upload> {
  return newsroom.php(
    `require_once ABSPATH . 'wp-admin/includes/image.php';
    $upload = wp_upload_bits( $input . '.png', null, 'x' );
    $id = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => $input, 'post_status' => 'inherit' ), $upload['file'] );
    wp_update_attachment_metadata( $id, array( 'width' => 1600, 'height' => 900, 'file' => _wp_relative_upload_path( $upload['file'] ), 'sizes' => array( 'large' => array( 'file' => $input . '-1024x576.png', 'width' => 1024, 'height' => 576, 'mime-type' => 'image/png' ) ) ) );
    return array( 'id' => $id, 'url' => $upload['url'] );`,
    name,
  );
}
const publish = (title: string, content: string): Promise<number> =>
  newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $input[0], 'post_content' => wp_slash( $input[1] ), 'post_status' => 'publish' ) );`,
    [title, content],
  );
const sized = (url: string) => url.replace(/\.png$/, '-1024x576.png');
/** What arrived, in order, once everything is sent. */
async function arrived() {
  await untilSent(newsroom);
  return receiver.deliveries.map(({ body }) => body);
}
const inText = ({ id, url }: Upload) =>
  `<!-- wp:image {"id":${id}} --><figure class="wp-block-image"><img src="${sized(url)}" alt="" class="wp-image-${id}"/></figure><!-- /wp:image -->`;

describe('a picture’s webhook', () => {
  it('is not sent for a new picture', async () => {
    await upload();
    expect(await arrived()).toEqual([]);
  });

  it('lists all addresses of a deleted picture, before the webhooks of documents that show it', async () => {
    const picture = await upload();
    const other = await upload();
    const first = await publish('Shows it', inText(picture));
    const second = await publish('Has it in a gallery', `[gallery columns="2" ids="${other.id},${picture.id}"]`);
    // Numbers that begin or end with the picture's number.
    await publish('Shows another', inText({ id: picture.id * 10 + 1, url: picture.url }));
    await publish('Has another in a gallery', `[gallery columns="2" ids="1${picture.id},${other.id}"]`);
    await untilSent(newsroom);
    receiver.clear();
    const { status } = await newsroom.rest(`/wp/v2/media/${picture.id}?force=true`, { as: 'admin', method: 'DELETE' });
    expect(status).toBe(200);
    const [file, ...documents] = await arrived();
    expect(file).toMatchObject({ event: 'delete', type: 'media', id: picture.id, slug: '', status: 'trash' });
    expect(file.addresses.toSorted()).toEqual([picture.url, sized(picture.url)].toSorted());
    expect(documents.map(({ event, id }) => [event, id]).toSorted()).toEqual([
      ['update', first],
      ['update', second],
    ]);
  });

  it('lists the addresses of the original, other formats and earlier edits', async () => {
    const picture = await upload('formats');
    const names: string[] = await newsroom.php(
      `$meta = wp_get_attachment_metadata( $input );
      $meta['original_image'] = 'formats-original.png';
      $meta['sizes']['large']['sources'] = array( 'image/webp' => array( 'file' => 'formats-1024x576.webp', 'filesize' => 9 ) );
      wp_update_attachment_metadata( $input, $meta );
      update_post_meta( $input, '_wp_attachment_backup_sizes', array( 'full-orig' => array( 'file' => 'formats-before.png' ) ) );
      return array_map( 'wp_basename', newsroom_picture_addresses( $input ) );`,
      picture.id,
    );
    expect(names.toSorted()).toEqual([
      'formats-1024x576.png',
      'formats-1024x576.webp',
      'formats-before.png',
      'formats-original.png',
      'formats.png',
    ]);
  });

  it('is sent when the file is written again under the same name', async () => {
    const picture = await upload();
    receiver.clear();
    await newsroom.php(
      `wp_update_attachment_metadata( $input, wp_get_attachment_metadata( $input ) ); return 1;`,
      picture.id,
    );
    const [file, ...documents] = await arrived();
    expect(file).toMatchObject({ event: 'update', type: 'media', id: picture.id, status: 'publish' });
    expect(file.addresses.toSorted()).toEqual([picture.url, sized(picture.url)].toSorted());
    expect(documents).toEqual([]);
  });

  it('lists both addresses when the file is replaced, and documents that show it are updated', async () => {
    const picture = await upload();
    const story = await publish('Shows what is replaced', inText(picture));
    await untilSent(newsroom);
    receiver.clear();
    await newsroom.php(
      `update_attached_file( $input, str_replace( '.png', '-new.png', get_attached_file( $input ) ) ); return 1;`,
      picture.id,
    );
    const [file, ...documents] = await arrived();
    expect(file.addresses).toEqual(
      expect.arrayContaining([picture.url, sized(picture.url), picture.url.replace('.png', '-new.png')]),
    );
    expect(documents.map(({ id }) => id)).toEqual([story]);
  });

  it('merges changes made while the site is down into one with all addresses', async () => {
    const picture = await upload();
    await untilSent(newsroom);
    receiver.clear();
    const waiting = await newsroom.php(
      `add_filter( 'pre_http_request', function () { return new WP_Error( 'away', 'away' ); } );
      update_attached_file( $input, str_replace( '.png', '-two.png', get_attached_file( $input ) ) );
      newsroom_flush_changes();
      update_attached_file( $input, str_replace( '-two.png', '-three.png', get_attached_file( $input ) ) );
      newsroom_flush_changes();
      wp_delete_attachment( $input, true );
      newsroom_flush_changes();
      delete_transient( 'newsroom_site_down' );
      global $wpdb;
      $wpdb->query( 'UPDATE ' . newsroom_table() . ' SET next_at = 0' );
      return $wpdb->get_col( 'SELECT event FROM ' . newsroom_table() . " WHERE state = 'pending' AND object_type = 'media'" );`,
      picture.id,
    );
    expect(waiting).toEqual(['delete']);
    const [file] = await arrived();
    for (const part of ['', '-two', '-three'])
      expect(file.addresses).toContain(picture.url.replace('.png', `${part}.png`));
  });

  it('is not sent for a new alt text or caption, but documents that show the picture are updated', async () => {
    const picture = await upload();
    const story = await publish('With a lead picture', 'Text.');
    await newsroom.php(`return set_post_thumbnail( $input[0], $input[1] );`, [story, picture.id]);
    await untilSent(newsroom);
    receiver.clear();
    for (const change of [{ alt_text: 'A bridge' }, { caption: 'The bridge at night' }]) {
      receiver.clear();
      await newsroom.rest(`/wp/v2/media/${picture.id}`, { as: 'admin', method: 'POST', body: change });
      expect((await arrived()).map(({ event, id }) => [event, id])).toEqual([['update', story]]);
    }
  });

  it('is not sent for a new alt text or caption, but documents that show the picture in a gallery are updated', async () => {
    const picture = await upload();
    const gallery = await publish('With a gallery', `[gallery ids="${picture.id}"]`);
    const parent = await publish('With a gallery of its own pictures', 'Text. [gallery link="file"]');
    await publish('With its own caption', inText(picture));
    await publish('With another gallery', `[gallery ids="${picture.id}7"]`);
    await newsroom.php(`wp_update_post( array( 'ID' => $input[0], 'post_parent' => $input[1] ) ); return 1;`, [
      picture.id,
      parent,
    ]);
    await untilSent(newsroom);
    for (const change of [{ alt_text: 'A bridge' }, { caption: 'The bridge at night' }]) {
      receiver.clear();
      await newsroom.rest(`/wp/v2/media/${picture.id}`, { as: 'admin', method: 'POST', body: change });
      expect((await arrived()).map(({ event, id }) => [event, id]).toSorted()).toEqual(
        [gallery, parent].map((id) => ['update', id]).toSorted(),
      );
    }
  });

  it('that was uploaded today updates no text from before, and an older one all that show it', async () => {
    const picture = await upload();
    const [before, after] = [await publish('Before', inText(picture)), await publish('After', inText(picture))];
    await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_modified_gmt' => '2020-01-01 00:00:00' ), array( 'ID' => $input ) ); clean_post_cache( $input ); return 1;`,
      before,
    );
    await untilSent(newsroom);
    const updated = async () => {
      receiver.clear();
      await newsroom.php(
        `$meta = wp_get_attachment_metadata( $input ); $meta['sizes']['more'] = $meta['sizes']['large']; wp_update_attachment_metadata( $input, $meta ); return 1;`,
        picture.id,
      );
      return (await arrived()).filter(({ type }) => type === 'articles').map(({ id }) => id);
    };
    expect(await updated()).toEqual([after]);
    await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_date_gmt' => '2021-01-01 00:00:00' ), array( 'ID' => $input ) ); clean_post_cache( $input ); return 1;`,
      picture.id,
    );
    expect((await updated()).toSorted()).toEqual([before, after].toSorted());
  });

  it('is a single one without addresses when over 100 pictures change, and documents that show them are updated', async () => {
    await newsroom.php(
      `for ( $i = 0; $i < 101; $i++ ) { wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => "Many $i", 'post_status' => 'inherit' ), "2026/11/many-$i.png" ); } return 1;`,
    );
    expect(await arrived()).toEqual([]);
    const [shown] = await newsroom.php(
      `return get_posts( array( 'post_type' => 'attachment', 'numberposts' => 1, 'orderby' => 'ID', 'fields' => 'ids' ) );`,
    );
    const story = await publish('Shows one of many', inText({ id: shown, url: 'http://wordpress.test/many.png' }));
    await untilSent(newsroom);
    receiver.clear();
    await newsroom.php(
      `foreach ( get_posts( array( 'post_type' => 'attachment', 'numberposts' => 101, 'orderby' => 'ID', 'fields' => 'ids' ) ) as $id ) { wp_update_attachment_metadata( $id, array( 'width' => 10, 'height' => 10 ) ); } return 1;`,
    );
    const [first, ...documents] = await arrived();
    expect([first.type, first.id, first.addresses]).toEqual(['media', 0, undefined]);
    // Stories of the tests above may show one of the pictures, too.
    expect(documents.map(({ type, id }) => [type, id])).toContainEqual(['articles', story]);
    expect(documents.filter(({ type }) => type === 'media')).toEqual([]);
  });
});

describe('a picture’s size', () => {
  describe.each([
    ['as its metadata says', { orientation: 1 }, [1600, 900]],
    ['turned when WordPress hasn’t applied a rotation', { orientation: 6 }, [900, 1600]],
    ['that of the edited file after an edit', { orientation: 6, edited: true }, [1600, 900]],
  ])('is %s', (_, state, size) => {
    const uploaded = async (): Promise<Upload> => {
      const picture = await upload();
      await newsroom.php(
        `$meta = wp_get_attachment_metadata( $input[0] );
        $meta['image_meta'] = array( 'orientation' => (string) $input[1]['orientation'] );
        wp_update_attachment_metadata( $input[0], $meta );
        if ( ! empty( $input[1]['edited'] ) ) update_post_meta( $input[0], '_wp_attachment_backup_sizes', array( 'full-orig' => array( 'file' => 'before.png' ) ) );
        return 1;`,
        [picture.id, state],
      );
      return picture;
    };

    it('for a lead picture', async () => {
      const picture = await newsroom.php('return newsroom_picture( $input );', (await uploaded()).id);
      expect([picture.width, picture.height]).toEqual(size);
    });

    it('in a text', async () => {
      const picture = await uploaded();
      const story = await publish('Shows it in its text', inText(picture));
      const { json } = await newsroom.rest(`/wp/v2/articles/${story}`);
      const rendered = json.content.rendered.replaceAll(newsroom.url, 'https://cms.example');
      const { bodyHtml } = await take({ content: { rendered } });
      expect(bodyHtml).toContain(`width="${size[0]}" height="${size[1]}"`);
      expect(bodyHtml).toContain(encodeURIComponent(`/${picture.url.split('/').at(-1)}`));
    });
  });
});
