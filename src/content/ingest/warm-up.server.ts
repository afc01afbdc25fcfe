/** Warms up the ingest thread: V8 runs code that it has seen a few times several times as fast, and an editor waits for the first publish. */
import type { Ingester } from './ingester.server.ts';

/** A made-up story in WordPress's format, with a little of everything that stories are made of. */
const story = {
  id: 1,
  slug: 'warm-up',
  status: 'publish',
  date_gmt: '2026-01-01T00:00:00',
  modified_gmt: '2026-01-01T00:00:00',
  title: { rendered: 'Warm-up &#8212; before the first story of the day' },
  excerpt: { rendered: '<p>It is never shown.</p>' },
  content: {
    rendered: [
      '<h2>In the Harbor</h2>',
      ...Array.from({ length: 12 }, (_, number) => {
        const links = `<a href="/article/story-${number}">a story</a>, <em>another</em> and <a href="https://example.org/">a third</a>`;
        return `<p class="wp-block">Paragraph ${number} &#8220;quotes&#8221; somebody, and leads to ${links}.</p>`;
      }),
      '<figure class="wp-block-image"><img src="/wp-content/uploads/none.jpg" alt="None" width="1200" height="800" /><figcaption>None</figcaption></figure>',
      '<ul><li>One</li><li>Another</li></ul><blockquote><p>A quotation.</p></blockquote>',
      '<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
      '<script>never()</script><p style="color:red" onclick="never()">Something to be taken out.</p>',
    ].join('\n'),
  },
  acf: {},
};

/** After this many rounds an article takes about as long as after hundreds. */
const rounds = 15;

/** Has the thread ingest a story that is thrown away; other documents go first. @throws IngestClosed */
export async function warmUpIngest(ingester: Pick<Ingester, 'document'>): Promise<void> {
  for (let round = 0; round < rounds; round++) await ingester.document('articles', story);
}
