import { expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { tag } from '../../lib/content/tags.ts';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from './content-store.server.ts';
import { applyEntries } from './entries.server.ts';
import { createReader } from './reader.server.ts';

it('the front page has no top stories once their WordPress page has another slug', () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  let at = 0;
  const put = (part: Parameters<typeof fixtureDocument>[0]) =>
    applyEntries(store, [{ kind: 'document', document: fixtureDocument(part), fetched: { at: ++at, clock: 0 } }]);
  const chosen = () => createReader(store).topStories().ids;
  const topStories = { ids: [1], breaking: false, bulleted: false, featuredExcerpt: '' };
  put({ type: 'articles', id: 1 });
  put({ type: 'pages', id: 7, slug: 'top-stories-2', topStories });
  expect(chosen()).toEqual([1]);
  expect(put({ type: 'pages', id: 7, slug: 'top-stories-old' }).tags).toContain(tag.topStories);
  expect(chosen()).toEqual([]);
  put({ type: 'pages', id: 7, slug: 'top-stories-2', topStories });
  expect(chosen()).toEqual([1]);
  store.close();
});
