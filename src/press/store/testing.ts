/** Page stores in a folder of their own. */
import { join } from 'node:path';
import { silent } from '../../lib/logging.ts';
import { pageOf, tempDir } from '../testing.ts';
import { openStore, type PageStore } from './page-store.server.ts';

export let folder: ReturnType<typeof tempDir>;
export let file: string;
export let stores: PageStore[];
export function openFolder(): void {
  folder = tempDir();
  file = join(folder.dir, 'pages.sqlite');
  stores = [];
}

export function closeStores(): void {
  for (const store of stores) store.close();
  folder.remove();
}

export function open(build = 'one', more: Partial<Parameters<typeof openStore>[0]> = {}): PageStore {
  const store = openStore({ file, build, log: silent, ...more });
  stores.push(store);
  return store;
}

export async function put(
  store: PageStore,
  key: string,
  text: string,
  tags: readonly string[] = [],
  began = store.latest(),
) {
  const { page, bodies } = await pageOf(key, text, tags);
  return store.put({ ...page, build: store.build }, bodies, began);
}

export const long = (text: string) => text.repeat(500);
