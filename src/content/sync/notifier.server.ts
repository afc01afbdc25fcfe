/**
 * Tells the listener about changes of the content store. A change is recorded in the transaction that makes it, until the listener has
 * processed it: if the process dies before that, the next process repeats the notification.
 */
import { randomUUID } from 'node:crypto';
import type { ContentChange, ContentOptions } from '../service.ts';
import type { ContentStore } from '../store/content-store.server.ts';

export interface Notifier {
  /** Records a change; part of its transaction. @returns the record's key, `''` if there is no listener */
  record(change: ContentChange): string;
  /** Calls the listener. A listener that fails doesn't undo the change. @returns the paths that it refreshed */
  notify(change: ContentChange, recordKey: string): Promise<readonly string[]>;
  /** Resolves when the listener has processed all present notifications. */
  settled(): Promise<void>;
  /** Notifies the listener of recorded changes that it didn't finish processing. It runs once. */
  replay(): void;
}

export interface NotifierOptions extends Pick<ContentOptions, 'log' | 'now' | 'onChange' | 'isDurable'> {
  readonly store: ContentStore;
}

interface NotifierState extends NotifierOptions {
  /** Keys of change records that the listener has processed; they are deleted once the listener's own record is durable. */
  readonly processedRecords: Set<string>;
}

/** Creates the notifier of a content store. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { store, onChange, now = Date.now } = options;
  const state: NotifierState = { ...options, processedRecords: new Set() };
  /** Notifications that the listener is processing. */
  const notifications = new Set<Promise<readonly string[]>>();
  let replayed = false;

  function notify(change: ContentChange, recordKey: string): Promise<readonly string[]> {
    const notification = callListener(state, change, recordKey).finally(() => notifications.delete(notification));
    notifications.add(notification);
    return notification;
  }

  return {
    record(change) {
      if (!onChange) return '';
      const key = `change:${now()}:${randomUUID()}`;
      store.setMeta(key, JSON.stringify({ ...change, tags: [...change.tags], published: [] }));
      return key;
    },
    notify,
    settled: async () => void (await Promise.allSettled([...notifications])),
    replay() {
      if (replayed) return;
      replayed = true;
      const pending = store.prepare("SELECT key, value FROM meta WHERE key LIKE 'change:%' ORDER BY key").all();
      for (const { key, value } of pending) {
        const { tags, ...rest } = JSON.parse(String(value)) as Omit<ContentChange, 'tags'> & { tags: string[] };
        void notify({ ...rest, tags: new Set(tags) }, String(key));
      }
    },
  };
}

async function callListener(
  state: NotifierState,
  change: ContentChange,
  recordKey: string,
): Promise<readonly string[]> {
  let refreshed = change.paths ?? [];
  try {
    const answer = await state.onChange?.(change);
    if (Array.isArray(answer) && answer.every((path) => typeof path === 'string')) refreshed = answer;
  } catch (error) {
    state.log.error({ error: String(error) }, 'content: a listener failed on a change');
  }
  try {
    deleteRecord(state, recordKey);
  } catch (error) {
    // The next process repeats the notification.
    state.log.warn({ error: String(error) }, "content: a processed change couldn't be deleted, as after a stop");
  }
  return refreshed;
}

function deleteRecord({ store, isDurable, processedRecords }: NotifierState, recordKey: string): void {
  if (recordKey !== '') processedRecords.add(recordKey);
  if (isDurable && !isDurable()) return;
  for (const key of processedRecords) store.prepare('DELETE FROM meta WHERE key = ?').run(key);
  processedRecords.clear();
}
