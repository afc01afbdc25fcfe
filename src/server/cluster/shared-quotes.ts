/** The market prices of a cluster: the node that syncs with WordPress requests them, and all nodes get them through the content log. */
import type { Content } from '../../content/service.ts';
import { tag } from '../../lib/content/tags.ts';
import type { SharedQuotes } from '../../lib/ticker/ticker.server.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterLog } from './cluster-log.ts';

/** Name of the prices among the values that the nodes share. */
export const quotesKey = 'quotes';

export const createSharedQuotes = (
  { leads }: Pick<ClusterLog, 'leads'>,
  { node }: Pick<Cluster, 'node'>,
  { shared }: Pick<Content, 'shared'>,
): SharedQuotes => ({
  leads,
  read: () => shared.read(quotesKey),
  write: (value, changed) => shared.write(quotesKey, value, changed ? [tag.ticker] : []),
  want: () => void node.send({ wanted: quotesKey }).catch(() => {}),
});
