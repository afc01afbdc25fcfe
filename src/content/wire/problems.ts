/** Known causes that keep the site from reading WordPress, each with its remedy, for `/readyz` and the log. */
import type { Client, Failure } from './client.server.ts';

export interface WordPressProblem {
  readonly code: string;
  /** Cause and remedy, for the operator. */
  readonly message: string;
}

/** The plugin's status of itself and of the request (docs/content-api.md). */
interface Status {
  readonly plugin: string;
  readonly credentials: boolean;
  readonly uploads?: string | undefined;
  readonly signed_in?: boolean | undefined;
  readonly signs_in?: boolean | undefined;
  readonly problems?: readonly WordPressProblem[] | undefined;
}

const skewSeconds = 300;

/** Codes of Node and OpenSSL for a certificate that isn't trusted. */
const untrusted =
  /\b(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)\b/u;

/** Why the plugin's status could not be read. `null`: the failure itself says everything that is known. */
export function problemOfFailure(failure: Failure, signsIn: boolean): WordPressProblem | null {
  const { status, code, message } = failure;
  if (untrusted.test(message)) {
    return {
      code: 'private-ca',
      message:
        "WordPress's certificate is signed by an authority that Node doesn't know: start the site with NODE_EXTRA_CA_CERTS=/path/to/ca.pem",
    };
  }
  if (/\bCERT_HAS_EXPIRED\b/u.test(message))
    return { code: 'certificate', message: "WordPress's certificate has expired: renew it" };
  if (/\bERR_TLS_CERT_ALTNAME_INVALID\b/u.test(message)) {
    const words = "WordPress's certificate is for another host: set WORDPRESS_URL to the host that it names";
    return { code: 'certificate', message: words };
  }
  if ((status === 401 || status === 403) && code === '') {
    return {
      code: 'basic-auth',
      message: `something before WordPress asks for a password or refuses the site (status ${status}; HTTP Basic authentication, a firewall). Basic authentication uses the same header as application passwords: exempt /wp-json/ and /wp-content/uploads/ from it, or let the site's address in without a password`,
    };
  }
  if (code === 'application_passwords_disabled' || code === 'application_passwords_disabled_for_user') {
    return {
      code: 'passwords-off',
      message:
        'application passwords are turned off in WordPress, most likely by a security plugin. Wordfence: All Options → Brute Force Protection → "Disable WordPress application passwords"',
    };
  }
  if (signsIn && status === 401 && /^(?:incorrect_password|invalid_username|invalid_email)$/u.test(code)) {
    return {
      code: 'password',
      message: `WordPress refuses the credentials (${code}): make a new application password in the profile of WORDPRESS_USER and set WORDPRESS_APP_PASSWORD to it`,
    };
  }
  if (code === 'rest_no_route') {
    const words = 'WordPress has no newsroom plugin: install and activate wordpress/newsroom there (docs/editors.md)';
    return { code: 'no-plugin', message: words };
  }
  return null;
}

/** Whether a 404 for `/wp-json/` comes from plain permalinks, which give the REST API another address. */
export async function hasPlainPermalinks(client: Client, failure: Failure): Promise<boolean> {
  return failure.status === 404 && failure.code === '' && (await client.answersByQuery('/newsroom/v1/status'));
}

export const plainPermalinks: WordPressProblem = {
  code: 'plain-permalinks',
  message: 'WordPress has plain permalinks and therefore no /wp-json/: choose "Post name" under Settings → Permalinks',
};

/** Problems although WordPress responds. */
export function problemsOfStatus(
  status: Status,
  client: Pick<Client, 'signsIn' | 'clock' | 'url'>,
  mediaHosts: readonly string[],
  now: number,
): WordPressProblem[] {
  const uploads = URL.parse(status.uploads ?? '');
  // The site knows its allowed hosts; the plugin only knows where the uploads are.
  const allowed =
    !uploads || uploads.host === new URL(client.url).host || mediaHosts.some((host) => host === uploads.host);
  const problems = (status.problems ?? []).filter(({ code }) => !(code === 'uploads-elsewhere' && allowed));
  const has = (code: string): boolean => problems.some((problem) => problem.code === code);
  const add = (code: string, message: string): void => void (has(code) || problems.push({ code, message }));
  if (!allowed && uploads) {
    add(
      'uploads-elsewhere',
      `uploads lie on ${uploads.host}, which is not allowed here: set IMAGE_HOSTS=${uploads.host}`,
    );
  }
  if (client.signsIn && !status.credentials && !has('passwords-need-https') && !has('passwords-off')) {
    if (status.signs_in === false) {
      add(
        'authorization-lost',
        "the Authorization header doesn't reach WordPress: with Apache set CGIPassAuth On, with nginx pass HTTP_AUTHORIZATION to PHP, and look after proxies in between",
      );
    } else if (status.signed_in) {
      add('role', 'WORDPRESS_USER may not read restricted bodies: give that user the role "Newsroom site"');
    } else {
      add('password', 'WordPress does not accept the credentials: check WORDPRESS_USER and WORDPRESS_APP_PASSWORD');
    }
  }
  const ahead = Math.round((client.clock() - now) / 1000);
  if (Math.abs(ahead) > skewSeconds) {
    const words = `WordPress's clock is ${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} the site's: webhooks are refused until both are set by NTP`;
    add('clock', words);
  }
  return problems;
}
