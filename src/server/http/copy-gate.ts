/**
 * Handles requests during the first copy of the archive. A document that isn't copied yet is fetched individually. A page whose
 * content isn't known yet gets a 503 with Retry-After. A 404 is sent only if WordPress says so, or if the copy is complete.
 */
import type { Content } from '../../content/service.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { pageNumber } from '../../lib/paging.ts';
import { editorialSlugs } from '../../lib/static/builtin.ts';
import { documentTypes, existsIn } from '../press/page-keys.ts';

export interface CopyGate {
  /**
   * Fetches the document of a page that the content store doesn't have yet, as far as possible.
   *
   * @param key key of a page that is not stored
   * @param client network address of the caller
   * @returns `arrived`: fetched just now; `later`: not known yet, respond with 503; `known`: continue
   */
  fetchMissing(key: string, client: string): Promise<'known' | 'arrived' | 'later'>;
  /** Whether a 404 of this page may only mean that the copy hasn't reached its content. */
  isUncertain(key: string): boolean;
  /** `Retry-After`, in seconds, of a page that is `later` or uncertain. */
  retryAfter(): number;
}

const sitemaps = /^\/(?:sitemap\.xml$|sitemaps\/)/;
const inSitemaps = ['articles', 'authors', 'video', 'crosswords'] as const;

/** Pages of lists, with the kind of document that owns the list. */
const lists: readonly { readonly path: RegExp; readonly type: DocumentType | 'comments' }[] = [
  { path: /^\/(?:latest|corrections|(?:section|author|podcast)\/[^/]+)$/, type: 'articles' },
  { path: /^\/media$/, type: 'video' },
  { path: /^\/games$/, type: 'crosswords' },
  { path: /^\/article\/[^/]+\/live$/, type: 'live-entries' },
  { path: /^\/article\/[^/]+\/comments$/, type: 'comments' },
];
const thread = /^\/article\/[^/]+\/comments\/\d+$/;
const liveEntry = /^\/(?:article\/[^/]+|fragments)\/live\/\d+$/;

const longestWait = 600;

/** Creates the gate of a content store. */
export function createCopyGate(content: Pick<Content, 'reader' | 'isComplete' | 'lookUp' | 'status'>): CopyGate {
  return {
    async fetchMissing(key, client) {
      const path = pathOf(key);
      if (sitemaps.test(path)) return inSitemaps.every((type) => content.isComplete(type)) ? 'known' : 'later';
      const page = path.slice(1);
      if (editorialSlugs.includes(page)) {
        // Without the editors' text the page has a built-in one.
        if (content.isComplete('pages') || content.reader().page(page)) return 'known';
        return (await content.lookUp('pages', page, client)) === 'found' ? 'arrived' : 'known';
      }
      const [own = '', kind = '', slug = ''] = /^\/(?:fragments\/)?([a-z]+)\/([^/]+)/i.exec(path) ?? [];
      const type = documentTypes.get(kind.toLowerCase());
      if (type === undefined || content.isComplete(type)) return 'known';
      if (existsIn(content.reader(), own.toLowerCase())) return 'known';
      const answer = await content.lookUp(type, slug, client);
      if (answer === 'found') return 'arrived';
      return answer === 'missing' ? 'known' : 'later';
    },
    isUncertain(key) {
      const path = pathOf(key);
      if (thread.test(path)) return !content.isComplete('comments');
      if (liveEntry.test(path)) return !content.isComplete('live-entries');
      const list = lists.find((one) => one.path.test(path));
      if (!list || content.isComplete(list.type)) return false;
      // If a section, an author or another owner doesn't exist, neither do its further pages.
      if (/^\/(?:section|author|podcast|article)\//.test(path) && !existsIn(content.reader(), ownerOf(path)))
        return false;
      return (pageNumber(new URLSearchParams(key.slice(path.length))) ?? 1) > 1;
    },
    retryAfter: () => Math.min(Math.max(5, content.status().secondsLeft ?? 5), longestWait),
  };
}

const pathOf = (key: string): string => key.split('?', 1)[0] ?? key;
const ownerOf = (path: string): string => path.split('/').slice(0, 3).join('/');
