/**
 * The access cookie lives for minutes, the session for weeks. A reader who comes back in between asks for a page with a session and
 * without a valid access cookie: then the accounts are asked once, and the page goes out with a new one.
 */
import type { Accounts } from '../../lib/accounts/service.ts';
import type { Logger } from '../../lib/logging.ts';
import type { AccessCookie } from '../../press/delivery/access-cookie.ts';
import type { AccessLevel } from '../../press/store/stored-page.ts';

export interface Renewed {
  /** What the reader may have; `null`: what everybody may. */
  readonly level: AccessLevel | null;
  /** Whole `Set-Cookie` values that go with what is for this reader alone. */
  readonly cookies: readonly string[];
}

/** @param header the request's `Cookie` header; @returns `null` at once, without a question, where there is no session */
export type RenewAccess = (header: string | undefined) => Promise<Renewed> | null;

/** Whether a `Cookie` header may hold a session. */
export const hasSession = (header: string | undefined): header is string =>
  header?.includes('blaize_session=') ?? false;

const nothing: Renewed = { level: null, cookies: [] };

export function renewAccess(
  accounts: Pick<Accounts, 'session'>,
  access: Pick<AccessCookie, 'name' | 'verify'>,
  log: Logger,
): RenewAccess {
  const opening = `${access.name}=`;
  async function ask(header: string): Promise<Renewed> {
    try {
      const { session, cookies } = await accounts.session(header);
      if (!session) return nothing;
      const line = cookies.find((cookie) => cookie.startsWith(opening));
      return { level: line ? access.verify(line.slice(opening.length).split(';', 1)[0] ?? '') : null, cookies };
    } catch (error) {
      // A page is not worth less because the accounts are away: everybody's variant it is.
      log.error({ err: error }, 'Who may read could not be found out');
      return nothing;
    }
  }
  return (header) => (hasSession(header) ? ask(header) : null);
}
