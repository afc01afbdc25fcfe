/** The articles that the reader keeps for later. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { libraryCall, listed } from '../../../../../lib/saved/routes.server.ts';

export const GET = libraryCall({}, async ({ library, session, context }) => ({
  status: 200,
  body: listed(context, await library.saved(session.userId)),
}));
export const ALL = allowOnly('GET');
