import { afterEach, expect, it } from 'vitest';
import { fixtureMirror } from '../../../tests/fixtures/content.ts';
import type { Mirror } from '../../content/store/mirror.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { articleCardOf } from '../cards/wire.ts';
import { answerOf } from './answer.ts';
import { recordOf } from './record.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

it('a picture is named by the picture service and not by its original, which may say where it was taken', () => {
  mirror = fixtureMirror(1);
  const content = createReader(mirror);
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
