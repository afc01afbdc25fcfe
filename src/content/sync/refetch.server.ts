/**
 * Fetches the stored documents again after a change of the settings that ingest reads. Ingest removes what these settings don't allow, so
 * the content store lacks the pictures, players and crosswords of a host that is allowed later.
 */
import { createHash } from 'node:crypto';
import type { DocumentType } from '../../lib/content/model.ts';
import { readCursor } from '../store/content-store.server.ts';
import type { Refresh, SyncContext } from './refresh.server.ts';

/** The settings that decide what ingest removes from documents. */
export interface IngestSettings {
  readonly frameHosts: readonly string[];
  readonly mediaHosts?: readonly string[] | undefined;
}

export interface Refetch {
  /** Whether every stored document was ingested with the present settings. */
  readonly complete: boolean;
  /** Records the settings of a content store that has no documents yet, or that a copy with them begins. */
  begin(): Promise<void>;
  /** Fetches the next documents again, the newest first. @throws SyncProblem */
  run(): Promise<void>;
}

/** Entry in `meta`: the settings with which all documents were ingested. */
const settingsKey = 'ingest-settings';
/** Cursor of a copy in progress. */
const cursorName = 'refetch';
/** Documents of one run, which delays the next poll. */
const atOnce = 1000;

interface RefetchCursor {
  readonly settings: string;
  /** All documents from this id on have been fetched. */
  readonly below: number;
}

/** Creates the refetch of a content store. */
export function createRefetch(
  context: SyncContext,
  refresh: Refresh,
  { frameHosts, mediaHosts = [] }: IngestSettings,
): Refetch {
  const { store, applier, log, signal } = context;
  const hosts = JSON.stringify([frameHosts.toSorted(), mediaHosts.toSorted()]);
  const settings = createHash('sha256').update(hosts).digest('hex').slice(0, 16);
  const record = () => applier.write([{ kind: 'meta', key: settingsKey, value: settings, tags: [] }]);
  const position = () => readCursor<RefetchCursor | null>(store, cursorName, null);
  const moveTo = (below: number) => {
    const value: RefetchCursor = { settings, below };
    return applier.write([{ kind: 'cursor', name: cursorName, value }]);
  };

  return {
    get complete() {
      // A copy with other settings may have begun since these were recorded.
      return store.getMeta(settingsKey) === settings && (position()?.settings ?? settings) === settings;
    },
    async begin() {
      if (this.complete || position()?.settings === settings) return;
      // Before the first document changes, so that a return to the earlier settings fetches all documents again, too.
      await moveTo(Number.MAX_SAFE_INTEGER);
      if (!store.prepare('SELECT 1 FROM documents LIMIT 1').get()) await record();
      else log.info({}, 'content: IMAGE_HOSTS or FRAME_HOSTS changed; all documents are fetched again');
    },
    async run() {
      await this.begin();
      const rows = store
        .prepare('SELECT id, type FROM documents WHERE id < ? AND partial = 0 ORDER BY id DESC LIMIT ?')
        .all(position()?.below ?? Number.MAX_SAFE_INTEGER, atOnce);
      const byType = Map.groupBy(rows, ({ type }) => type as DocumentType);
      for (const [type, group] of byType) {
        await refresh.documents(
          type,
          group.map(({ id }) => Number(id)),
        );
      }
      if (signal.aborted) return;
      if (rows.length === atOnce) {
        await moveTo(Number(rows.at(-1)?.id));
        return;
      }
      await record();
      log.info({}, 'content: all documents have been fetched with the present IMAGE_HOSTS and FRAME_HOSTS');
    },
  };
}
