import { expect, it } from 'vitest';
import { fixtureReader } from '../../../tests/fixtures/content.ts';
import { staff } from './model.ts';

it('the staff page lists every author by last name with a section, and is tagged for each of them', () => {
  const reader = fixtureReader();
  const writers = staff(reader);
  expect(writers.map(({ author }) => author.name)).toEqual(['Margaret Ellery', 'Thomas Okafor']);
  const [newest] = reader.articles({ authorId: 901, limit: 1 }).items;
  expect(writers[0]?.section).toEqual(newest?.section);
  expect([...reader.tags]).toEqual(expect.arrayContaining(['authors', 'profile:901', 'author:901', 'author:902']));
});
