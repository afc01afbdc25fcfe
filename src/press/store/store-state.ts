/** State of the page store, and what all parts of it share: the build's namespace, and which tags have changed. */
import type { Logger } from '../../lib/logging.ts';
import type { StoreFile } from './sqlite-file.server.ts';

export interface StoreState {
  readonly file: StoreFile;
  readonly build: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Row of this build in `namespaces`; 0: not looked up yet, or the file was replaced. */
  namespace: number;
  /** Row of the build before, whose pages are served until this build's own are there. */
  before: number | null;
  /** Numbers of changes continue from here when the file is replaced. */
  lastChange: number;
}

/**
 * For how long changes are remembered, milliseconds: longer than any render may take, and as long as a page that is rendered on
 * demand may be served without being rendered again.
 */
export const rememberChangesMs = 24 * 60 * 60 * 1000;

/** The namespace of this build, created when the file doesn't have it yet. */
export function namespaceOf(state: StoreState): number {
  if (state.namespace !== 0) return state.namespace;
  const { file, build, now } = state;
  const { sql } = file;
  file.write(() => {
    sql('INSERT OR IGNORE INTO namespaces (build, begun_at) VALUES (?, ?)').run(build, now());
    sql("UPDATE meta SET value = max(value, ?) WHERE name = 'seq'").run(state.lastChange);
    const own = sql('SELECT id, warm_at FROM namespaces WHERE build = ?').get(build);
    const other = sql('SELECT id FROM namespaces WHERE build <> ? ORDER BY begun_at DESC, id DESC LIMIT 1').get(build);
    state.before = other && own?.warm_at === null ? Number(other.id) : null;
    state.namespace = Number(own?.id);
  });
  return state.namespace;
}

export function buildOf({ namespace, build, file }: StoreState, id: number): string {
  return id === namespace ? build : String(file.sql('SELECT build FROM namespaces WHERE id = ?').get(id)?.build ?? '');
}

/** Notes that this build is warm: pages of other builds are no longer served. */
export function markWarm(state: StoreState): void {
  const id = namespaceOf(state);
  state.file.sql('UPDATE namespaces SET warm_at = ? WHERE id = ?').run(state.now(), id);
  state.before = null;
}

/** Whether one of the tags (a JSON array) changed after change number `since`. */
export function isOutdated({ file }: StoreState, tags: string, since: number): boolean {
  const some = file.sql('SELECT 1 FROM changes WHERE seq > ? AND tag IN (SELECT value FROM json_each(?)) LIMIT 1');
  const everything = file.sql("SELECT 1 FROM changes WHERE seq > ? AND tag = '' LIMIT 1");
  return some.get(since, tags) !== undefined || everything.get(since) !== undefined;
}
