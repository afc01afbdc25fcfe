/**
 * Fills a content store with synthetic articles for the bench of the search, in a process of its own:
 * `node bench/tools/search-fill.ts <articles> <file>`. They are not sanitized: the search sees their text alone.
 */
import { openContentStore } from '../../src/content/store/content-store.server.ts';
import { storeSections } from '../../src/content/store/navigation.server.ts';
import { storeDocument } from '../../src/content/store/write.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { article, sectionSlugs } from '../content/synthetic.ts';

const [wanted, file] = process.argv.slice(2);
const count = Number(wanted);
if (!file || !Number.isSafeInteger(count) || count < 1) {
  throw new Error('usage: node bench/tools/search-fill.ts <articles> <file>');
}

interface Synthetic {
  readonly id: number;
  readonly date_gmt: string;
  readonly slug: string;
  readonly title: { readonly rendered: string };
  readonly excerpt: { readonly rendered: string };
  readonly content: { readonly rendered: string };
  readonly acf: { readonly author: { readonly id: number; readonly name: string; readonly slug: string } };
  readonly category: readonly { readonly id: number }[];
  readonly access: 'default' | 'subscriber';
}

const plain = (html: string): string =>
  html
    .replace(/<[^>]*>/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();

const store = openContentStore({ file, origin: null, log: silent });
storeSections(
  store,
  sectionSlugs.map((slug, index) => ({
    id: index + 1,
    slug,
    name: slug,
    label: slug,
    homepageCount: 4,
    showInMedia: false,
    position: index + 1,
    color: 'default' as const,
  })),
);
const atOnce = 500;
for (let start = 0; start < count; start += atOnce) {
  store.transaction(() => {
    for (let index = start; index < Math.min(count, start + atOnce); index++) {
      const { id, slug, access, ...wire } = article(index, '') as unknown as Synthetic;
      const bodyHtml = wire.content.rendered;
      storeDocument(
        store,
        {
          type: 'articles',
          id,
          slug,
          bodyHtml,
          image: null,
          oldSlugs: [],
          topStories: null,
          date: `${wire.date_gmt}Z`,
          modified: `${wire.date_gmt}Z`,
          title: wire.title.rendered,
          excerpt: plain(wire.excerpt.rendered),
          authorId: wire.acf.author.id,
          author: { ...wire.acf.author, excerpt: '', image: null },
          terms: wire.category.map((category) => category.id),
          facts: { access, words: 700, minutes: 3, commentsOpen: false },
          openingHtml: bodyHtml.slice(0, bodyHtml.indexOf('</p>') + 4),
          searchText: plain(bodyHtml),
        },
        { at: index + 1, clock: 0 },
      );
    }
  });
}
store.setMeta('ready', '1');
store.setMeta('synced-at', new Date().toISOString());
store.close();
