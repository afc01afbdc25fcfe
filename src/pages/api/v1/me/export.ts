/** Everything stored about the signed-in reader, as a file to download. */
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ accounts, session }) => ({
  status: 200,
  body: await accounts.exportData(session),
  headers: { 'Content-Disposition': 'attachment; filename="your-account.json"' },
}));
export const ALL = allowOnly('GET');
