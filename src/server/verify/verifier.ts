/** The service that says whether a mailbox exists: one question through the site's adapter, about the paper's own address. */
import { askVerifier, type ExternalSettings, problemOf } from '../../lib/email-verification/external.server.ts';
import { type Check, Trouble } from './checks.ts';

const patienceMs = 20_000;

/** @param address of the paper, which is known to exist; a question costs a credit */
export function verifierCheck(verifier: ExternalSettings | null, address: string): Check {
  return {
    service: 'verifier',
    missing: verifier ? null : 'set EMAIL_VERIFIER and EMAIL_VERIFIER_KEY',
    steps: [{ asks: `whether ${address} exists`, run: () => ask(verifier, address) }],
  };
}

async function ask(verifier: ExternalSettings | null, address: string): Promise<string> {
  if (!verifier) throw new Error('no verifier is configured');
  try {
    const { result } = await askVerifier(verifier, address, patienceMs);
    return result;
  } catch (error) {
    const host = new URL(verifier.url).host;
    const remedy = `check EMAIL_VERIFIER_KEY, the credits of the account, and that ${host} speaks what EMAIL_VERIFIER (${verifier.vendor}) names`;
    throw new Trouble(problemOf(error), remedy, { cause: error });
  }
}
