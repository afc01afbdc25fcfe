/** Values that one node makes, and all nodes get through the content log. */
import type { Content } from '../../content/service.ts';
import type { SharedValue } from '../../lib/shared-value.ts';
import type { SharedQuotes } from '../../lib/ticker/ticker.server.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterLog } from './cluster-log.ts';

/** Name of the market prices among the values that the nodes share. */
export const quotesKey = 'quotes';

export const createSharedValue = (
  { leads }: Pick<ClusterLog, 'leads'>,
  { shared }: Pick<Content, 'shared'>,
  key: string,
): SharedValue => ({
  leads,
  read: () => shared.read(key),
  write: (value, tags) => shared.write(key, value, tags),
});

export const createSharedQuotes = (
  clusterLog: Pick<ClusterLog, 'leads'>,
  { node }: Pick<Cluster, 'node'>,
  content: Pick<Content, 'shared'>,
): SharedQuotes => ({
  ...createSharedValue(clusterLog, content, quotesKey),
  want: () => void node.send({ wanted: quotesKey }).catch(() => {}),
});
