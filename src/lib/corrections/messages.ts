/** What the notice says. Not in `schema.ts`, which every page loads: the notice comes where there is something to tell. */
import type { UnseenStory } from './schema.ts';

export const noticeWords = {
  heading: (stories: readonly Pick<UnseenStory, 'kind'>[]): string => {
    const kinds = new Set(stories.map(({ kind }) => kind));
    const done = kinds.size > 1 ? 'corrected or clarified' : kinds.has('clarification') ? 'clarified' : 'corrected';
    return stories.length === 1 ? `A story you read was ${done}` : `Stories you read were ${done}`;
  },
  dismiss: 'Dismiss',
} as const;
