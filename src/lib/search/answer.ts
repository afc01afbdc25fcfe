/** From what was found to the answer over the wire. Pure. */
import type { ContentReader, SearchHit } from '../content/model.ts';
import { leadStory } from '../fronts/front-page.ts';
import { snippetOf, snippetParts } from '../text.ts';
import type { Found } from './model.ts';
import { pictureOf } from './record.ts';
import type { SearchAnswer, SearchHitAnswer } from './schema.ts';

const hitOf = (hit: SearchHit): SearchHitAnswer => ({
  slug: hit.slug,
  post_id: hit.id,
  post_title: hit.title,
  image_url: pictureOf(hit.image),
  author: { post_title: hit.author?.name ?? '' },
  snippet: snippetParts(snippetOf(hit)),
  section: hit.section && { slug: hit.section.slug, label: hit.section.label },
  date: hit.date,
  url: `/article/${hit.slug}`,
});

/** @param page from 0 */
export const answerOf = (
  { items, total, instead }: Found,
  query: string,
  page: number,
  hitsPerPage: number,
): SearchAnswer => ({
  nbHits: total,
  hits: items.map(hitOf),
  page,
  nbPages: Math.ceil(total / hitsPerPage),
  hitsPerPage,
  query,
  instead: [...instead],
});

/** The editors' choice for a search without results (spec section 2, "Search overlay"): the lead story and the next ones. */
export function featuredStories(content: ContentReader, limit: number) {
  const top = content.topStories();
  const lead = leadStory(top, content.articles({ limit: 1 }).items);
  return lead ? [lead, ...top.others].slice(0, limit) : [];
}
