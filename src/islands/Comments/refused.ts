/** Messages of the island when a call was refused. */
import { commentFailed } from '../../lib/comments/messages.ts';
import type { Refused } from '../../lib/http/ask.ts';

export function refusedMessage({ status, message }: Refused): string {
  if (status === 0) return commentFailed.offline;
  if (status === 401) return commentFailed.signedOut;
  return message ?? commentFailed.wrong;
}

/** Which field the server has named, if any. */
export function refusedField({ body }: Refused): 'name' | 'content' | null {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'field') : null;
  return field === 'name' || field === 'content' ? field : null;
}
