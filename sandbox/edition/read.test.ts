import { expect, it } from 'vitest';
import { readEdition } from './read.ts';

it('the demo edition runs a headline test on exactly one story', () => {
  const tested = readEdition('http://127.0.0.1:8881', 'demo').documents.filter(
    ({ meta }) => 'newsroom_headline_test' in meta,
  );
  expect(tested.map(({ slug, meta }) => [slug, meta.newsroom_headline_test])).toEqual([
    [
      'sticker-price-of-college',
      { state: 'running', variants: [{ headline: 'Hardly Anyone Pays What the College Brochure Says', image: 0 }] },
    ],
  ]);
});
