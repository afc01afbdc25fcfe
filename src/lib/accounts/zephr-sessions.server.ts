/**
 * Who is reading, where a Zephr tenant keeps the accounts: asked of the tenant, for page guards and paid articles. What a reader
 * may have is what the tenant's feature decisions say, asked for with each new access cookie.
 */
import { request } from 'undici';
import { z } from 'zod';
import { publication } from '../../publication.ts';
import { type Grant, grantOf, registeredGrant } from '../access/grant.ts';
import { readCookies, setCookie } from '../http/cookies.ts';
import { trackingCookie } from './names.ts';
import type { Accounts } from './service.ts';
import { visitorCookie } from './visitor.ts';

export interface TenantSessionsOptions {
  /** Base address of the tenant, no slash at its end. */
  readonly url: string;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  /** The signer of the access cookie. */
  readonly access: {
    readonly name: string;
    /** @param expires Unix seconds */
    sign(level: Grant['level'], expires: number): string;
    verify(value: string): string | null;
  };
  /** Milliseconds for the tenant's answer. */
  readonly patienceMs?: number;
}

const account = z.object({
  identifiers: z.object({ email_address: z.string() }),
  tracking_id: z.string(),
});
const decisions = z.object({ accessDetails: z.object({ activeProducts: z.array(z.string()) }) });
/** Seconds. */
const accessLife = 15 * 60;
const visitorLife = 30 * 24 * 60 * 60;
const sessionCookie = 'blaize_session';

/** @returns as `Accounts.session`; it rejects when the tenant does not answer, or not as it should */
export function tenantSessions(options: TenantSessionsOptions): Pick<Accounts, 'session'> {
  const { url, secure, access, patienceMs = 5000 } = options;

  /** What the tenant says that this reader has; an account and no more when it does not say. */
  async function grantFor(cookie: string): Promise<Grant> {
    try {
      const answer = await request(`${url}/zephr/feature-decisions`, {
        method: 'POST',
        headers: { cookie, accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ featureIds: publication.featureIds }),
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      });
      const { accessDetails } = decisions.parse(await answer.body.json());
      const until = Number.POSITIVE_INFINITY;
      return grantOf(
        accessDetails.activeProducts.map((product) => ({ product, until, trialing: false })),
        Date.now(),
      );
    } catch {
      return registeredGrant;
    }
  }

  return {
    async session(header) {
      const mine = [sessionCookie, trackingCookie].flatMap((name) =>
        readCookies(header, name).map((value) => `${name}=${value}`),
      );
      if (!mine.some((cookie) => cookie.startsWith(`${sessionCookie}=`))) return { session: null, cookies: [] };
      const answer = await request(`${url}/blaize/account`, {
        headers: { cookie: mine.join('; '), accept: 'application/json' },
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (answer.statusCode === 401) return { session: null, cookies: [] };
        throw new Error(`The Zephr tenant answered ${answer.statusCode} to the question who is reading.`);
      }
      const { identifiers, tracking_id: trackingId } = account.parse(await answer.body.json());
      const cookies: string[] = [];
      const hinted = readCookies(header, visitorCookie);
      const due = !readCookies(header, access.name).some((value) => access.verify(value) !== null);
      const grant = due ? await grantFor(mine.join('; ')) : null;
      const visitor = grant?.visitor ?? 'registered';
      if (hinted.length === 0 || (grant && !hinted.includes(visitor))) {
        cookies.push(setCookie(visitorCookie, visitor, { maxAge: visitorLife, httpOnly: false, secure }));
      }
      if (grant) {
        const value = access.sign(grant.level, Math.floor(Date.now() / 1000) + accessLife);
        cookies.push(setCookie(access.name, value, { maxAge: accessLife, httpOnly: true, secure }));
      }
      // The tenant says neither which session it is nor since when.
      const session = { id: trackingId, userId: trackingId, trackingId, email: identifiers.email_address };
      return { session: { ...session, emailVerified: true, createdAt: 0 }, cookies };
    },
  };
}
