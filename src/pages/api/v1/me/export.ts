/** Everything kept about the reader who is signed in, as a file to keep. */
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ accounts, session }) => ({
  status: 200,
  body: await accounts.exportData(session),
  headers: { 'Content-Disposition': 'attachment; filename="your-account.json"' },
}));
export const ALL = allowOnly('GET');
