/**
 * Withdraws what WordPress has withdrawn while this node couldn't read the content log. It asks WordPress for the documents that changed,
 * and applies only what withdraws a story or makes it paid; the log brings everything else later.
 */
import type { DocumentType } from '../../lib/content/model.ts';
import { type ContentStore, documentTypes } from '../store/content-store.server.ts';
import type { Client } from '../wire/client.server.ts';
import { fetchChanges, fetchOne, problemOf, SyncProblem } from '../wire/fetch.server.ts';
import { type Applier, fetchedOf } from './apply.server.ts';
import { mayBeOneDocument } from './refresh.server.ts';

type Change = Awaited<ReturnType<typeof fetchChanges>>[number];

const withdrawingEvents: ReadonlySet<string> = new Set(['unpublish', 'trash', 'delete']);

interface MissedState {
  readonly store: ContentStore;
  readonly client: Client;
  readonly applier: Applier;
  /** Deliveries that the last answer named and that are done. */
  seen: Set<string>;
}

/**
 * Creates the function that asks WordPress for the changes of the last seconds and withdraws what is withdrawn.
 *
 * @returns resolves to how many documents it withdrew; throws SyncProblem when WordPress can't be read, after it has done what it could
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
  for (const group of byDocument(fresh)) {
    try {
      if (await withdrawIfGone(state, group[0], signal)) withdrawn++;
      for (const { delivery } of group) seen.add(delivery);
    } catch (error) {
      if (!(error instanceof SyncProblem) || !error.failure || !mayBeOneDocument(error.failure)) throw error;
      problem = error;
    }
  }
  if (problem) throw problem;
  return withdrawn;
}

/** Changes by document, withdrawals first. */
function byDocument(changes: readonly Change[]): [Change, ...Change[]][] {
  const groups = new Map<string, [Change, ...Change[]]>();
  const order = ({ event }: Change): number => (withdrawingEvents.has(event) ? 0 : 1);
  for (const change of changes.toSorted((one, other) => order(one) - order(other))) {
    const key = `${change.type}:${change.id}`;
    const group = groups.get(key);
    if (group) group.push(change);
    else groups.set(key, [change]);
  }
  return [...groups.values()];
}

const isDocumentType = (type: string): type is DocumentType => documentTypes.some((each) => each === type);

async function withdrawIfGone(
  { store, client, applier }: MissedState,
  { type, id }: Change,
  signal: AbortSignal,
): Promise<boolean> {
  const known = isDocumentType(type) ? fetchedOf(store, type, id) : null;
  if (!known || !isDocumentType(type)) return false;
  const found = await fetchOne(client, type, id, { tries: 1, signal });
  if (found.kind === 'failed') throw problemOf(client, found.failure);
  return applier.withdrawAhead(type, id, found.kind === 'gone' ? null : found.raw, known);
}
