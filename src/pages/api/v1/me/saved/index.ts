/** The reader's saved articles. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { savedListPage, savedStoriesRoute } from '../../../../../lib/saved/routes.server.ts';

export const GET = savedStoriesRoute({}, async ({ savedStories, session, context }) => ({
  status: 200,
  body: savedListPage(context, await savedStories.saved(session.userId)),
}));
export const ALL = allowOnly('GET');
