/**
 * The search: the site's own index, or a hosted engine with that index as a fallback. Results of a hosted engine are read from the
 * content store, so that withdrawn articles are never shown.
 */
import { isRestrictedLevel } from '../access/model.ts';
import type { ContentReader, SearchFilter } from '../content/reader.ts';
import type { Logger } from '../logging.ts';
import type { HostedEngine, Search } from './model.ts';

export interface SearchOptions {
  /** `null`: only the site's own index. */
  readonly hosted: HostedEngine | null;
  readonly log: Logger;
  /** Milliseconds; that of the process by default, which runs on when the machine's clock is set. */
  readonly now?: () => number;
}

/** After this many failures in a row the engine isn't used for `pauseMs`, so that readers don't wait for it each time. */
const mostFailures = 3;
const pauseMs = 15_000;

/** Makes the search. The feed of a hosted engine begins with `start`. */
export function createSearch({ hosted, log, now = () => performance.now() }: SearchOptions): Search {
  let failures = 0;
  let fallbacks = 0;
  let pausedUntil = 0;
  let problem: string | null = null;

  async function askHosted(engine: HostedEngine, content: ContentReader, query: string, filter: SearchFilter) {
    const answer = await engine.query(query, filter);
    if (!answer.ok) {
      failures++;
      problem = answer.problem;
      if (failures >= mostFailures) pausedUntil = now() + pauseMs;
      log.warn({ problem, failures }, "The hosted search doesn't respond; the site's own index is used");
      return null;
    }
    [failures, problem] = [0, null];
    const snippets = new Map(answer.hits.map(({ id, snippet }) => [id, snippet]));
    const { items } = content.articles({ ids: [...snippets.keys()] });
    content.note('search');
    const gone = snippets.size - items.length;
    return {
      // The engine's snippet may be older than the story's restriction.
      items: items.map((card) => ({
        ...card,
        snippet: isRestrictedLevel(card.access) ? '' : (snippets.get(card.id) ?? ''),
      })),
      total: Math.max(items.length, answer.total - gone),
      added: [],
    };
  }

  return {
    async find(content, query, filter) {
      const { offset = 0, limit = 10 } = filter;
      // The engine has no results beyond these.
      if (hosted && offset + limit <= hosted.mostHits) {
        const found = now() < pausedUntil ? null : await askHosted(hosted, content, query, filter);
        if (found) return found;
        fallbacks++;
      }
      return content.searchAsync(query, filter);
    },
    changed(tags) {
      try {
        hosted?.feed?.changed(tags);
      } catch (error) {
        // For example because the disk is full. The change must still reach the site's own pages.
        log.error({ err: error }, 'A change could not be queued for the hosted search');
      }
    },
    stats: () => {
      const fed = hosted?.feed?.stats();
      return {
        engine: hosted ? 'algolia' : 'own',
        fallbacks,
        pending: fed?.pending ?? 0,
        failed: fed?.failed ?? 0,
        problem: problem ?? fed?.problem ?? null,
      };
    },
    start: () => hosted?.feed?.start(),
    stop: async () => hosted?.feed?.stop(),
  };
}
