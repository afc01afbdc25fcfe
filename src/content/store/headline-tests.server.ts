/** The stories whose headlines are being tested, as a list of the content store. */
import type { Card } from '../../lib/content/model.ts';
import { readCard } from './cards.server.ts';
import type { DocumentVersion } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';
import { listIds } from './lists.server.ts';

const testedList = 'articles:tested';
/** Tests at the same time; more than any newspaper has. */
const mostTested = 500;

/** The list of tested stories, if a document belongs in it. */
export const testedListsOf = ({ type, facts }: Pick<DocumentVersion, 'type' | 'facts'>): string[] =>
  type === 'articles' && facts.test?.state === 'running' ? [testedList] : [];

/** The tested stories, newest first. */
export const testedStories = (store: ContentStore): readonly Card[] =>
  listIds(store, [testedList], {}, mostTested).flatMap((id) => readCard(store, id)?.card ?? []);
