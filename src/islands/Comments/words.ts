/** What the island says when a call was refused. */
import type { Refused } from '../../lib/http/ask.ts';

const offline =
  'The paper cannot be reached. Your words are kept in this browser: please check your connection and try again.';
const signedOut = 'You are signed out. Sign in in another tab, then send this again: your words are kept here.';
const wrong = 'Something went wrong. Your words are kept here. Please try again.';

export function refusedWords({ status, message }: Refused): string {
  if (status === 0) return offline;
  if (status === 401) return signedOut;
  return message ?? wrong;
}

/** Which field the server has named, if any. */
export function refusedField({ body }: Refused): 'name' | 'content' | null {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'field') : null;
  return field === 'name' || field === 'content' ? field : null;
}
