/** The stand-ins for all vendors but WordPress: small servers in this process, which cost next to nothing until they are used. */
import path from 'node:path';
import { type FacebookAccess, startFacebook } from './facebook/facebook.ts';
import { type GoogleAccess, startGoogle } from './google/google.ts';
import { type MailboxAccess, startMailbox } from './mailbox/mailbox.ts';
import { type PushAccess, startPush } from './push/push.ts';
import { type QuotesAccess, startQuotes } from './quotes/quotes.ts';
import { type RetentionAccess, startRetention } from './retention/retention.ts';
import { type StripeAccess, startStripe } from './stripe/stripe.ts';
import { startThirdParty, type ThirdPartyAccess } from './third-party/third-party.ts';
import { startVerifier, type VerifierAccess } from './verifier/verifier.ts';

export interface VendorsAccess {
  readonly mailbox: MailboxAccess;
  readonly google: GoogleAccess;
  readonly facebook: FacebookAccess;
  readonly verifier: VerifierAccess;
  readonly stripe: StripeAccess;
  readonly thirdParty: ThirdPartyAccess;
  readonly retention: RetentionAccess;
  readonly quotes: QuotesAccess;
  readonly push: PushAccess;
}

export interface Vendors {
  readonly access: VendorsAccess;
  stop(): Promise<void>;
}

export interface VendorsOptions {
  /** Address of the newspaper's site, where the consent pages send browsers back to. */
  readonly siteUrl: string;
  /** Port of the mailbox's page (default: a free one, as for Stripe). The others use free ports. */
  readonly mailboxPort?: number;
  readonly stripePort?: number;
  /** Folder for data that outlives the process; without it, data stays in memory. */
  readonly data?: string;
}

/**
 * Starts all of them on 127.0.0.1.
 * @throws {SetupError} when a port is in use
 */
export async function startVendors({
  siteUrl,
  mailboxPort = 0,
  stripePort = 0,
  data,
}: VendorsOptions): Promise<Vendors> {
  const running: { stop(): Promise<void> }[] = [];
  const start = async <T extends { stop(): Promise<void>; access: unknown }>(
    starting: Promise<T>,
  ): Promise<T['access']> => {
    const started = await starting;
    running.push(started);
    return started.access;
  };
  const stop = async () => {
    await Promise.all(running.map((one) => one.stop()));
  };
  try {
    return {
      access: {
        mailbox: await start(
          startMailbox({ port: mailboxPort, folder: data && path.join(data, 'mailbox'), login: 'required' }),
        ),
        google: await start(startGoogle({ siteUrl })),
        facebook: await start(startFacebook({ siteUrl })),
        verifier: await start(startVerifier()),
        retention: await start(startRetention()),
        stripe: await start(startStripe({ siteUrl, port: stripePort, folder: data && path.join(data, 'stripe') })),
        thirdParty: await start(startThirdParty()),
        quotes: await start(startQuotes()),
        push: await start(startPush()),
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
