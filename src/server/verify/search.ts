/** Algolia: what the search key finds, and what the write key may do. */

import type { Logger } from '../../lib/logging.ts';
import { openAlgolia } from '../../lib/search/algolia.server.ts';
import type { AlgoliaSettings } from '../config/vendors.ts';
import { type Check, type Step, Trouble } from './checks.ts';
import { fields, request } from './http.ts';

/** What the site needs to fill the index. Source: Algolia, "API keys", list of ACLs. */
const needed = ['addObject', 'deleteObject'] as const;

export function searchCheck(algolia: AlgoliaSettings | null, log: Logger): Check {
  const steps: Step[] = [{ asks: 'a search with ALGOLIA_SEARCH_KEY', run: () => search(configured(algolia), log) }];
  if (algolia === null || algolia.writeKey !== null) {
    steps.push({ asks: 'what ALGOLIA_WRITE_KEY may do', run: () => rights(configured(algolia)) });
  }
  const missing = algolia ? null : 'set ALGOLIA_APP_ID, ALGOLIA_SEARCH_KEY and ALGOLIA_INDEX';
  return { service: 'algolia', missing, steps };
}

function configured(algolia: AlgoliaSettings | null): AlgoliaSettings {
  if (!algolia) throw new Error('Algolia is not configured');
  return algolia;
}

async function search(algolia: AlgoliaSettings, log: Logger): Promise<string> {
  const reader = () => {
    throw new Error('verify does not feed the index');
  };
  const engine = openAlgolia({ access: { ...algolia, writeKey: null }, timeoutMs: 10_000, reader, dataDir: '', log });
  const answer = await engine.query('', {});
  if (answer.ok) return `${answer.total} stories in ${algolia.index}`;
  throw new Trouble(answer.problem, 'copy the keys from "API Keys" in the Algolia dashboard, and check ALGOLIA_INDEX');
}

async function rights(algolia: AlgoliaSettings): Promise<string> {
  const base = algolia.url ?? `https://${algolia.appId}.algolia.net`;
  const key = algolia.writeKey ?? '';
  const headers = { 'X-Algolia-Application-Id': algolia.appId, 'X-Algolia-API-Key': key };
  const reply = await request(`${base}/1/keys/${encodeURIComponent(key)}`, 'ALGOLIA_URL', { headers });
  const { acl } = fields(reply.json);
  if (reply.status !== 200 || !Array.isArray(acl)) {
    throw new Trouble(`status ${reply.status}`, 'ALGOLIA_WRITE_KEY must be a key of this application; copy it again');
  }
  const lacking = needed.filter((right) => !acl.includes(right));
  if (lacking.length === 0) return acl.join(', ');
  throw new Trouble(
    `it may not ${lacking.join(' and ')}`,
    `give the key of ALGOLIA_WRITE_KEY the rights ${needed.join(', ')}`,
  );
}
