/** Fills a store with articles: `node fill.ts <file> <count>`. */
import { silent } from '../../src/lib/logging.ts';
import { openStore } from '../../src/press/store/page-store.server.ts';
import { storedArticle } from './page.ts';

const [file = '', count = '1000'] = process.argv.slice(2);
const store = openStore({ file, build: 'bench', log: silent });
const { at, bodies } = await storedArticle();
const began = performance.now();
for (let number = store.size().pages; number < Number(count); number++) store.put(at(number), bodies, 0);
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${JSON.stringify({ ...store.size(), seconds })}\n`);
store.close();
