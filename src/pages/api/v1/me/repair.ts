/** Puts a reader's cookies right; nobody looks at the answer (spec sections 4 and 7). */
import { only, readerCall } from '../../../../lib/accounts/http.server.ts';
import type { RepairAnswer } from '../../../../lib/accounts/wire.ts';

// Looking the session up has renewed what was to be renewed.
export const GET = readerCall({}, async () => ({ status: 200, body: { repaired: true } satisfies RepairAnswer }));
export const ALL = only('GET');
