/**
 * Withdraws what WordPress has withdrawn while this node couldn't read the content log. It asks WordPress what changed, and applies only
 * what withdraws a document, a comment or a section, or makes a story paid; the log brings everything else later.
 */

import type { DocumentType } from '../../lib/content/model.ts';
import { aheadOf, type EntryAhead, isRemovable } from '../store/ahead-of-log.server.ts';
import { commentFetchedAt } from '../store/comments.server.ts';
import { type ContentStore, documentTypes } from '../store/content-store.server.ts';
import { storedSections } from '../store/navigation.server.ts';
import type { Fetched } from '../store/write.server.ts';
import { fetchChanges, fetchOne, problemOf, SyncProblem } from '../wire/fetch.server.ts';
import * as wire from '../wire/schemas.ts';
import { idIn } from '../wire/values.ts';
import { fetchedOf } from './apply.server.ts';
import { fetchCategories, mayBeOneDocument, navigationPosition, type SyncContext } from './refresh.server.ts';

type Change = Awaited<ReturnType<typeof fetchChanges>>[number];

/** Events of documents that readers must no longer see. */
export const withdrawingEvents: ReadonlySet<string> = new Set(['unpublish', 'trash', 'delete']);

interface MissedState extends Pick<SyncContext, 'store' | 'client' | 'applier' | 'log'> {
  /** Deliveries that the last answer named and that are done. */
  seen: Set<string>;
}

/**
 * Creates the function that asks WordPress for the changes of the last seconds and withdraws what is withdrawn.
 *
 * @returns resolves to how much it withdrew; throws SyncProblem when WordPress can't be read, after it has done what it could
 */
export function createWithdrawMissed(
  options: Omit<MissedState, 'seen'>,
): (seconds: number, signal: AbortSignal) => Promise<number> {
  const state: MissedState = { ...options, seen: new Set() };
  return (seconds, signal) => withdrawMissed(state, seconds, signal);
}

async function withdrawMissed(state: MissedState, seconds: number, signal: AbortSignal): Promise<number> {
  const changes = await fetchChanges(state.client, seconds, { tries: 1, signal });
  const seen = new Set(changes.flatMap(({ delivery }) => (state.seen.has(delivery) ? [delivery] : [])));
  const fresh = changes.filter(({ delivery }) => !seen.has(delivery));
  state.seen = seen;
  let withdrawn = 0;
  let problem: SyncProblem | null = null;
  for (const group of grouped(fresh)) {
    try {
      const askedAt = state.client.nextTime();
      const entry = await withdrawalOf(state, group[0], signal);
      // The log changed the document during the request; it is checked again if this node is still cut off.
      if (entry === 'changed') continue;
      if (entry && !aheadOf(state.store, entry)) withdrawn++;
      if (entry) state.applier.applyAhead(entry, askedAt);
      for (const { delivery } of group) seen.add(delivery);
    } catch (error) {
      if (!(error instanceof SyncProblem) || !error.failure || !mayBeOneDocument(error.failure)) throw error;
      problem = error;
    }
  }
  if (problem) throw problem;
  return withdrawn;
}

/** Groups changes by the request that they need, withdrawals first; all sections are one request. */
function grouped(changes: readonly Change[]): [Change, ...Change[]][] {
  const groups = new Map<string, [Change, ...Change[]]>();
  const order = ({ event }: Change): number => (withdrawingEvents.has(event) ? 0 : 1);
  for (const change of changes.toSorted((one, other) => order(one) - order(other))) {
    const key = change.type === 'categories' ? change.type : `${change.type}:${change.id}`;
    const group = groups.get(key);
    if (group) group.push(change);
    else groups.set(key, [change]);
  }
  return [...groups.values()];
}

const isDocumentType = (type: string): type is DocumentType => documentTypes.some((each) => each === type);

/** The entry that withdraws what changed; `null` if it isn't in the content store, or nothing is withdrawn; `changed` if the log was faster. */
type Outcome = EntryAhead | null | 'changed';

async function withdrawalOf(state: MissedState, { type, id }: Change, signal: AbortSignal): Promise<Outcome> {
  if (type === 'comments') return commentWithdrawal(state, id, signal);
  if (type === 'categories') return sectionsWithdrawal(state, signal);
  const { store, client, applier } = state;
  const known = isDocumentType(type) ? timeOf(store, type, id) : null;
  if (!known || !isDocumentType(type)) return null;
  const found = await fetchOne(client, type, id, { tries: 1, signal });
  if (found.kind === 'failed') throw problemOf(client, found.failure);
  const [raw, { clock }] = found.kind === 'gone' ? [null, found.fetched] : [found.raw, found.answer.fetched];
  const entry = await applier.withdrawalOf(type, id, raw, { at: known.at, clock });
  return timeOf(store, type, id)?.at === known.at ? entry : 'changed';
}

/** The time of the stored version, even if this node has withdrawn that version itself. */
const timeOf = (store: ContentStore, type: DocumentType, id: number): Fetched | null =>
  fetchedOf(store, type, id) ??
  aheadOf(store, { kind: 'withdrawal', type, id, fetched: { at: 0, clock: 0 } })?.fetched ??
  null;

async function commentWithdrawal(
  { store, client, applier }: MissedState,
  id: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const stored = (): string => JSON.stringify(store.prepare('SELECT * FROM comments WHERE id = ?').get(id) ?? null);
  const before = stored();
  if (before === 'null' && !aheadOf(store, { kind: 'comment-withdrawal', id })) return null;
  const found = await fetchOne(client, 'comments', id, { tries: 1, signal });
  if (found.kind === 'failed') throw problemOf(client, found.failure);
  const [raw, { clock }] = found.kind === 'gone' ? [null, found.fetched] : [found.raw, found.answer.fetched];
  const entry = await applier.commentWithdrawalOf(id, raw, { at: commentFetchedAt(store, id), clock });
  return before === stored() ? entry : 'changed';
}

/**
 * The sections without those that WordPress has deleted or taken out of the navigation. A section that makes its stories paid stays until
 * the log has the change, together with the stories' new sections: without it the stories would be free until then.
 */
async function sectionsWithdrawal(state: MissedState, signal: AbortSignal): Promise<Outcome> {
  const before = storedSections(state.store);
  const { raws, fetched } = await fetchCategories(state, { tries: 1, signal });
  const shown = new Set(
    raws.flatMap((raw) => {
      const parsed = wire.category.safeParse(raw);
      // A section that can't be read stays unchanged.
      if (!parsed.success) return [idIn(raw)];
      return navigationPosition(parsed.data) === null ? [] : [parsed.data.id];
    }),
  );
  if (JSON.stringify(before) !== JSON.stringify(storedSections(state.store))) return 'changed';
  const gone = before.filter((each) => each.position !== null && !shown.has(each.id) && isRemovable(each));
  const sections = before.filter((section) => !gone.includes(section));
  const ahead = aheadOf(state.store, { kind: 'sections', sections });
  // Sections that this node has already removed ahead of the log are removed again with the time of the later answer.
  const earlier = ahead?.kind === 'sections' ? (ahead.removed ?? []).filter((id) => !shown.has(id)) : [];
  const removed = [...new Set([...earlier, ...gone.map(({ id }) => id)])];
  return removed.length > 0 ? { kind: 'sections', sections, removed, fetched } : null;
}
