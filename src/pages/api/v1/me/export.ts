/** Everything kept about the reader who is signed in, as a file to keep. */
import { only, readerCall } from '../../../../lib/accounts/http.server.ts';

export const GET = readerCall({}, async ({ accounts, session }) => ({
  status: 200,
  body: await accounts.exportData(session),
  headers: { 'Content-Disposition': 'attachment; filename="your-account.json"' },
}));
export const ALL = only('GET');
