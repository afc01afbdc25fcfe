/** Services behind readers' accounts: Google, Facebook, Zephr, the mail server, and the verifier of mail addresses. */
import { randomUUID } from 'node:crypto';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import type { FacebookSettings, GoogleSettings } from '../../lib/accounts/social-providers.server.ts';
import { askVerifier, type ExternalSettings, problemOf } from '../../lib/email-verification/external.server.ts';
import { isLoopback } from '../../lib/http/network.ts';
import { connectionOf, type MailSettings, openTransport, type SmtpSettings } from '../../lib/mail/smtp.server.ts';
import { type Check, CheckFailure, checkOf, fields, type Reply, reason, request } from './checks.ts';

/** Google's own addresses, from its discovery document. */
interface GoogleEndpoints {
  readonly issuer: string;
  readonly token: string;
  readonly authorization: string;
}

/**
 * Requests Google's discovery document; its token endpoint with a code that can't be valid; and its authorization endpoint with our
 * return address.
 *
 * @param redirectUri the return address that the site sends
 */
export function googleCheck(google: GoogleSettings | null, redirectUri: string): Check {
  let endpoints: GoogleEndpoints = { issuer: '', token: '', authorization: '' };
  return checkOf('google', google, 'set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET', [
    [
      'GET /.well-known/openid-configuration',
      async ({ url }) => {
        endpoints = await discoverGoogle(url);
        return `issuer ${endpoints.issuer}`;
      },
    ],
    [
      'POST to the token endpoint with a code that is not valid',
      (settings) => tryGoogleCode(settings, endpoints.token, redirectUri),
    ],
    [
      'GET the authorization endpoint with our return address',
      ({ clientId }) => tryReturnAddress(clientId, endpoints.authorization, redirectUri),
    ],
  ]);
}

async function discoverGoogle(url: string): Promise<GoogleEndpoints> {
  const reply = await request(`${url}/.well-known/openid-configuration`, 'GOOGLE_ISSUER_URL');
  const { issuer, token_endpoint: token, authorization_endpoint: authorization } = fields(reply.json);
  if (reply.status !== 200 || typeof token !== 'string' || typeof authorization !== 'string')
    throw new CheckFailure(
      refusalOf(reply),
      `GOOGLE_ISSUER_URL must be an OpenID Connect issuer; leave it out for Google's`,
    );
  if (String(issuer).replace(/\/$/, '') !== url)
    throw new CheckFailure(`issuer ${String(issuer)}`, 'set GOOGLE_ISSUER_URL to this issuer, or leave it out');
  return { issuer: String(issuer), token, authorization };
}

const registerAddress = (redirectUri: string): string =>
  `add ${redirectUri} to the authorized redirect URIs of the client in the Google Cloud console`;

/** `invalid_grant` means that the client id and the secret are right, `invalid_client` that they aren't (RFC 6749, section 5.2). */
async function tryGoogleCode(
  { clientId, clientSecret }: GoogleSettings,
  endpoint: string,
  redirectUri: string,
): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: 'broadsheet-verify',
    redirect_uri: redirectUri,
    client_id: clientId,
    client_secret: clientSecret,
  });
  const reply = await request(endpoint, 'GOOGLE_ISSUER_URL', { method: 'POST', body });
  const { error } = fields(reply.json);
  if (error === 'invalid_grant') return 'invalid_grant: client id and secret are right';
  if (error === 'redirect_uri_mismatch') throw new CheckFailure(error, registerAddress(redirectUri));
  throw new CheckFailure(
    refusalOf(reply),
    'copy GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET from the Google Cloud console',
  );
}

async function tryReturnAddress(clientId: string, endpoint: string, redirectUri: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'broadsheet-verify',
  });
  const refusal = refusedAuthorization(await request(`${endpoint}?${query}`, 'GOOGLE_ISSUER_URL'));
  if (refusal === null) return `${redirectUri} is registered`;
  const isUnregistered = refusal === 'redirect_uri_mismatch';
  throw new CheckFailure(
    refusal,
    isUnregistered
      ? registerAddress(redirectUri)
      : 'check the client and its consent screen in the Google Cloud console',
  );
}

const authorizationErrors =
  /\b(?:redirect_uri_mismatch|(?:deleted|disabled|invalid|unauthorized)_client|invalid_(?:request|scope)|org_internal|admin_policy_enforced|access_denied)\b/;

/**
 * Why Google does not show the consent page; `null`: it does, or asks for a log-in first. A refusal is a page with an error status, or
 * a redirect to an error page with the code in `authError`, in Base64.
 */
function refusedAuthorization({ status, headers, text }: Reply): string | null {
  const target = URL.parse(headers.get('location') ?? '', 'https://accounts.google.com');
  const coded = target?.searchParams.get('authError') ?? '';
  const refused = status >= 400 || coded !== '' || target?.pathname.endsWith('/oauth/error') === true;
  if (!refused) return null;
  const words = `${Buffer.from(coded, 'base64').toString('latin1')} ${target?.search ?? ''} ${text}`;
  return authorizationErrors.exec(words)?.[0] ?? `status ${status}`;
}

/** Requests an app's access token from Facebook, which requires the right id and secret, and the app's name with it. */
export function facebookCheck(facebook: FacebookSettings | null, graphVersion: string): Check {
  let token = '';
  return checkOf('facebook', facebook, 'set FACEBOOK_CLIENT_ID and FACEBOOK_CLIENT_SECRET', [
    [
      `GET /${graphVersion}/oauth/access_token (client_credentials)`,
      async ({ graphUrl, clientId, clientSecret }) => {
        const query = new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: clientSecret,
        });
        const reply = await request(`${graphUrl}/${graphVersion}/oauth/access_token?${query}`, 'FACEBOOK_GRAPH_URL');
        const { access_token } = fields(reply.json);
        if (reply.status !== 200 || typeof access_token !== 'string') {
          const remedy = 'copy FACEBOOK_CLIENT_ID and FACEBOOK_CLIENT_SECRET from the basic settings of the app';
          throw new CheckFailure(refusalOf(reply), remedy);
        }
        token = access_token;
        return 'an app access token';
      },
    ],
    [
      `GET /${graphVersion}/{app}?fields=id,name`,
      async ({ graphUrl, clientId }) => {
        const headers = { authorization: `Bearer ${token}` };
        const url = `${graphUrl}/${graphVersion}/${clientId}?fields=id,name`;
        const reply = await request(url, 'FACEBOOK_GRAPH_URL', { headers });
        if (reply.status === 200 && String(fields(reply.json).id) === clientId) return 'the app exists';
        const remedy = `check in the app dashboard that the app is live and uses Graph API ${graphVersion}`;
        throw new CheckFailure(refusalOf(reply), remedy);
      },
    ],
  ]);
}

/** A provider's refusal in its own error code; the rest of the body isn't repeated, because it may contain a token. */
function refusalOf({ status, json }: Reply): string {
  const { error } = fields(json);
  const { type, code, message } = fields(error);
  const words =
    typeof error === 'string' ? error : [type, code, message].filter((word) => word !== undefined).join(' ');
  return words === '' ? `status ${status}` : `status ${status}, ${words}`;
}

/** Checks that the public API of the Zephr tenant responds where `/blaize/*` is forwarded to. */
export const zephrCheck = (tenant: string | null): Check =>
  checkOf('zephr', tenant, 'set ZEPHR_URL', [
    [
      'GET /blaize/account without a session',
      async (url) => {
        const { status } = await request(`${url}/blaize/account`, 'ZEPHR_URL');
        if (status === 401) return '401, as expected without a session';
        const remedy =
          "set ZEPHR_URL to the tenant's own CDN address, such as https://paper.cdn.zephr.com, with its public API switched on";
        throw new CheckFailure(`status ${status}`, remedy);
      },
    ],
  ]);

// Mail: encryption, log-in, and with `--mail-to` a message that arrives.

const timeoutMs = 15_000;

/**
 * @param mail `null`: no mail server is configured
 * @param mailTo recipient of a test message; `null`: none is sent
 */
export function mailCheck(mail: MailSettings | null, mailTo: string | null): Check {
  const smtp = mail?.smtp;
  const place = smtp ? `${smtp.host}:${smtp.port}` : 'the host of SMTP_URL';
  return checkOf('mail', mail, 'set SMTP_URL and MAIL_FROM', [
    [
      smtp?.secure ? `TLS and EHLO at ${place}` : `EHLO and STARTTLS at ${place}`,
      (settings) => withConnection(settings.smtp, encryption),
    ],
    [
      'AUTH as the user in SMTP_URL',
      async (settings) =>
        settings.smtp.auth
          ? withConnection(settings.smtp, logIn)
          : 'no user in SMTP_URL; the server takes mail without one',
    ],
    ...(mailTo === null
      ? []
      : [[`a message to ${mailTo}`, (settings: MailSettings) => sendTest(settings, mailTo)] as const]),
  ]);
}

/** Connects as the mail transport does. */
async function withConnection(
  smtp: SmtpSettings,
  work: (smtp: SmtpSettings, connection: SMTPConnection) => Promise<string>,
): Promise<string> {
  const connection = new SMTPConnection(connectionOf(smtp));
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', (error: Error) => reject(connectionFailure(error, smtp)));
      connection.connect((error) => (error ? reject(connectionFailure(error, smtp)) : resolve()));
    });
    connection.removeAllListeners('error');
    connection.on('error', () => {});
    return await work(smtp, connection);
  } finally {
    connection.close();
  }
}

async function encryption(smtp: SmtpSettings, connection: SMTPConnection): Promise<string> {
  if (connection.secure) return smtp.secure ? 'encrypted from the first byte' : 'encrypted by STARTTLS';
  if (isLoopback(smtp.host)) return 'not encrypted, on this machine only';
  throw new CheckFailure(
    "the server doesn't offer STARTTLS, so mail to readers would be sent unencrypted",
    'give the address of a server with TLS in SMTP_URL, normally smtp://…:587 (STARTTLS) or smtps://…:465',
  );
}

function logIn(smtp: SmtpSettings, connection: SMTPConnection): Promise<string> {
  return new Promise((resolve, reject) => {
    const credentials = { user: smtp.auth?.user ?? '', pass: smtp.auth?.password ?? '' };
    connection.login({ credentials }, (error) => {
      if (!error) return resolve('signed in');
      const remedy = 'check the user and the password in SMTP_URL; characters such as @ and / are written %40 and %2F';
      reject(new CheckFailure(reason(error), remedy, { cause: error }));
    });
  });
}

function connectionFailure(error: Error, smtp: SmtpSettings): CheckFailure {
  const where = `${smtp.host}:${smtp.port}`;
  const remedy = /STARTTLS|TLS|SSL|CERT|SELF_SIGNED|wrong version/i.test(reason(error))
    ? `check which encryption ${where} uses: smtps:// is TLS from the first byte (465), smtp:// upgrades by STARTTLS (587); its certificate must be valid`
    : `check the host and port in SMTP_URL, and that this machine may open connections to ${where}`;
  return new CheckFailure(reason(error), remedy, { cause: error });
}

async function sendTest(mail: MailSettings, to: string): Promise<string> {
  const transport = openTransport(mail, 1);
  try {
    const text = "Broadsheet can send mail. This message was sent by npm run verify; you don't need to do anything.";
    const message = { subject: 'Broadsheet: test message', text, html: `<p>${text}</p>` };
    const delivered = await transport.send(randomUUID(), to, message, AbortSignal.timeout(timeoutMs * 4));
    if (delivered.kind === 'sent') return "accepted for delivery; check that it arrives and isn't marked as spam";
    const result = 'detail' in delivered ? `${delivered.kind}: ${delivered.detail}` : delivered.problem;
    throw new CheckFailure(result, 'check that the server may send as MAIL_FROM, and the address after --mail-to');
  } finally {
    transport.close();
  }
}

/** Verifies the newspaper's own address, which exists; this costs one credit. */
export const verifierCheck = (verifier: ExternalSettings | null, address: string): Check =>
  checkOf('verifier', verifier, 'set EMAIL_VERIFIER and EMAIL_VERIFIER_KEY', [
    [
      `whether ${address} exists`,
      async (settings) => {
        try {
          return (await askVerifier(settings, address, timeoutMs)).result;
        } catch (error) {
          const host = new URL(settings.url).host;
          const remedy = `check EMAIL_VERIFIER_KEY, the credits of the account, and that ${host} speaks what EMAIL_VERIFIER (${settings.vendor}) names`;
          throw new CheckFailure(problemOf(error), remedy, { cause: error });
        }
      },
    ],
  ]);
