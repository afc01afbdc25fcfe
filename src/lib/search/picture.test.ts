import { afterEach, expect, it } from 'vitest';
import { fixtureStore } from '../../../tests/fixtures/content.ts';
import type { ContentStore } from '../../content/store/content-store.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { articleCardOf } from '../cards/wire.ts';
import { answerOf } from './answer.ts';
import { recordOf } from './record.ts';

let store: ContentStore;
afterEach(() => store.close());

it('a picture is named by the picture service and not by its original, which may say where it was taken', () => {
  store = fixtureStore(1);
  const content = createReader(store);
  const card = content.articles({ limit: 100 }).items.find(({ image }) => image);
  const article = card && content.article(card.slug);
  if (!card?.image || !article) throw new Error('No story has a picture');
  const found = { items: [{ ...card, snippet: '' }], total: 1, instead: [] };
  const named = [
    recordOf(article).image_url,
    answerOf(found, 'word', 0, 10).hits[0]?.image_url,
    articleCardOf(card).image?.url,
  ];
  for (const name of named) {
    const { pathname, searchParams } = new URL(name ?? '', 'https://sun.example');
    expect([name?.[0], pathname, searchParams.get('url')]).toEqual(['/', '/image', card.image.url]);
  }
});
