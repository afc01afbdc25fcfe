/**
 * What readers get while the first copy of the archive is under way. A document that the copy has not come to is fetched by itself; what
 * can't be known yet is answered 503 with Retry-After. A 404 is WordPress's own word, or that of a complete copy.
 */
import type { Content } from '../../content/service.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { pageNumber } from '../../lib/paging.ts';
import { editorialSlugs } from '../../lib/static/builtin.ts';
import { existsIn } from '../press/page-keys.ts';

export interface CopyGate {
  /**
   * Makes sure that what a page shows is known, as far as it can be.
   *
   * @param key key of a page that is not stored
   * @param client network address of the caller
   * @returns `arrived`: fetched just now; `later`: not known yet, to be answered 503; `known`: go on
   */
  arrive(key: string, client: string): Promise<'known' | 'arrived' | 'later'>;
  /** Whether a 404 of this page may mean only that the copy has not come so far. */
  isUncertain(key: string): boolean;
  /** Seconds after which to ask again for what is `later` or uncertain. */
  retryAfter(): number;
}

const documentTypes: Readonly<Record<string, DocumentType>> = {
  article: 'articles',
  author: 'authors',
  media: 'video',
  games: 'crosswords',
};

const sitemaps = /^\/(?:sitemap\.xml$|sitemaps\/)/;
const inSitemaps = ['articles', 'authors', 'video', 'crosswords'] as const;

/** Lists by pages, and what they are lists of. */
const lists: readonly { readonly path: RegExp; readonly type: DocumentType | 'comments' }[] = [
  { path: /^\/(?:latest|section\/[^/]+|author\/[^/]+)$/, type: 'articles' },
  { path: /^\/media$/, type: 'video' },
  { path: /^\/games$/, type: 'crosswords' },
  { path: /^\/article\/[^/]+\/comments$/, type: 'comments' },
];
const thread = /^\/article\/[^/]+\/comments\/\d+$/;

const longestWait = 600;

/** Makes the gate of one content store. */
export function createCopyGate(content: Pick<Content, 'reader' | 'isComplete' | 'lookUp' | 'status'>): CopyGate {
  return {
    async arrive(key, client) {
      const path = pathOf(key);
      if (sitemaps.test(path)) return inSitemaps.every((type) => content.isComplete(type)) ? 'known' : 'later';
      const page = path.slice(1);
      if (editorialSlugs.includes(page)) {
        // Where the editors' text is not to be had, a built-in one stands in.
        if (content.isComplete('pages') || content.reader().page(page)) return 'known';
        return (await content.lookUp('pages', page, client)) === 'found' ? 'arrived' : 'known';
      }
      const [own = '', kind = '', slug = ''] = /^\/(?:fragments\/)?([a-z]+)\/([^/]+)/i.exec(path) ?? [];
      const type = documentTypes[kind.toLowerCase()];
      if (type === undefined || content.isComplete(type)) return 'known';
      if (existsIn(content.reader(), own.toLowerCase())) return 'known';
      const answer = await content.lookUp(type, slug, client);
      if (answer === 'found') return 'arrived';
      return answer === 'missing' ? 'known' : 'later';
    },
    isUncertain(key) {
      const path = pathOf(key);
      if (thread.test(path)) return !content.isComplete('comments');
      const list = lists.find((one) => one.path.test(path));
      if (!list || content.isComplete(list.type)) return false;
      // The page of a section or an author that does not exist has no further pages either.
      if (/^\/(?:section|author|article)\//.test(path) && !existsIn(content.reader(), ownerOf(path))) return false;
      return (pageNumber(new URLSearchParams(key.slice(path.length))) ?? 1) > 1;
    },
    retryAfter: () => Math.min(Math.max(5, content.status().secondsLeft ?? 5), longestWait),
  };
}

const pathOf = (key: string): string => key.split('?', 1)[0] ?? key;
const ownerOf = (path: string): string => path.split('/').slice(0, 3).join('/');
