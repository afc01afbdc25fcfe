/** The alert that WordPress has published, as the content store keeps it. */
import { type Alert, isRunning } from '../../lib/alerts/model.ts';
import { tag } from '../../lib/content/tags.ts';
import type { ContentStore } from './content-store.server.ts';
import type { ContentEntry } from './entries.server.ts';

const key = 'alert';

/** The alert that is running; `null`: there is none, it was withdrawn, or it is over. @param tags of the reader */
export function readAlert(store: ContentStore, tags: Set<string>): Alert | null {
  tags.add(tag.alert);
  const alert = JSON.parse(store.getMeta(key) ?? 'null') as Alert | null;
  return alert && isRunning(alert, Date.now()) ? alert : null;
}

/** The entry that stores an alert; `null`: the content store has it already. */
export function alertEntry(store: ContentStore, alert: Alert | null): ContentEntry | null {
  const value = JSON.stringify(alert);
  return (store.getMeta(key) ?? 'null') === value ? null : { kind: 'meta', key, value, tags: [tag.alert] };
}
