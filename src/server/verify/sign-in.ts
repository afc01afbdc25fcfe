/** Google and Facebook: whether their settings belong to an app, and whether the app accepts this site's return address. */
import type { FacebookSettings, GoogleSettings } from '../../lib/accounts/social-providers.server.ts';
import { type Check, fields, type Reply, request, Trouble } from './checks.ts';

/**
 * Requests Google's discovery document; its token endpoint with a code that can't be valid (`invalid_grant` means that the client id
 * and the secret are right, `invalid_client` that they aren't: RFC 6749, section 5.2); and its authorization endpoint with our return
 * address.
 *
 * @param redirectUri the return address that the site sends
 */
export function googleCheck(google: GoogleSettings | null, redirectUri: string): Check {
  let endpoint = '';
  let authorization = '';
  return {
    service: 'google',
    missing: google ? null : 'set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
    steps: [
      {
        asks: 'GET /.well-known/openid-configuration',
        run: async () => {
          const base = google?.url ?? '';
          const reply = await request(`${base}/.well-known/openid-configuration`, 'GOOGLE_ISSUER_URL');
          const { issuer, token_endpoint, authorization_endpoint } = fields(reply.json);
          if (
            reply.status !== 200 ||
            typeof token_endpoint !== 'string' ||
            typeof authorization_endpoint !== 'string'
          ) {
            throw new Trouble(
              said(reply),
              `GOOGLE_ISSUER_URL must be an OpenID Connect issuer; leave it out for Google's`,
            );
          }
          if (String(issuer).replace(/\/$/, '') !== base) {
            throw new Trouble(`issuer ${String(issuer)}`, 'set GOOGLE_ISSUER_URL to this issuer, or leave it out');
          }
          endpoint = token_endpoint;
          authorization = authorization_endpoint;
          return `issuer ${String(issuer)}`;
        },
      },
      {
        asks: 'POST to the token endpoint with a code that is not valid',
        run: async () => {
          const body = new URLSearchParams({
            grant_type: 'authorization_code',
            code: 'broadsheet-verify',
            redirect_uri: redirectUri,
            client_id: google?.clientId ?? '',
            client_secret: google?.clientSecret ?? '',
          });
          const reply = await request(endpoint, 'GOOGLE_ISSUER_URL', { method: 'POST', body });
          const { error } = fields(reply.json);
          if (error === 'invalid_grant') return 'invalid_grant: client id and secret are right';
          if (error === 'redirect_uri_mismatch') {
            const remedy = `add ${redirectUri} to the authorized redirect URIs of the client in the Google Cloud console`;
            throw new Trouble('redirect_uri_mismatch', remedy);
          }
          throw new Trouble(
            said(reply),
            'copy GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET from the Google Cloud console',
          );
        },
      },
      {
        asks: 'GET the authorization endpoint with our return address',
        run: async () => {
          const query = new URLSearchParams({
            client_id: google?.clientId ?? '',
            redirect_uri: redirectUri,
            response_type: 'code',
            scope: 'openid email profile',
            state: 'broadsheet-verify',
          });
          const reply = await request(`${authorization}?${query}`, 'GOOGLE_ISSUER_URL');
          const refusal = refusedAuthorization(reply);
          if (refusal === null) return `${redirectUri} is registered`;
          const remedy =
            refusal === 'redirect_uri_mismatch'
              ? `add ${redirectUri} to the authorized redirect URIs of the client in the Google Cloud console`
              : 'see the client and its consent screen in the Google Cloud console';
          throw new Trouble(refusal, remedy);
        },
      },
    ],
  };
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
  const graph = `${facebook?.graphUrl ?? ''}/${graphVersion}`;
  return {
    service: 'facebook',
    missing: facebook ? null : 'set FACEBOOK_CLIENT_ID and FACEBOOK_CLIENT_SECRET',
    steps: [
      {
        asks: `GET /${graphVersion}/oauth/access_token (client_credentials)`,
        run: async () => {
          const query = new URLSearchParams({
            grant_type: 'client_credentials',
            client_id: facebook?.clientId ?? '',
            client_secret: facebook?.clientSecret ?? '',
          });
          const reply = await request(`${graph}/oauth/access_token?${query}`, 'FACEBOOK_GRAPH_URL');
          const { access_token } = fields(reply.json);
          if (reply.status === 200 && typeof access_token === 'string') {
            token = access_token;
            return 'an app access token';
          }
          const remedy = 'copy FACEBOOK_CLIENT_ID and FACEBOOK_CLIENT_SECRET from the basic settings of the app';
          throw new Trouble(said(reply), remedy);
        },
      },
      {
        asks: `GET /${graphVersion}/{app}?fields=id,name`,
        run: async () => {
          const headers = { authorization: `Bearer ${token}` };
          const reply = await request(`${graph}/${facebook?.clientId}?fields=id,name`, 'FACEBOOK_GRAPH_URL', {
            headers,
          });
          const { id } = fields(reply.json);
          if (reply.status === 200 && String(id) === facebook?.clientId) return 'the app is there';
          const remedy = `see in the app dashboard that the app is live and uses Graph API ${graphVersion}`;
          throw new Trouble(said(reply), remedy);
        },
      },
    ],
  };
}

/** A provider's refusal in its own error code; the rest of the body isn't repeated, because it may contain a token. */
function said({ status, json }: Reply): string {
  const { error } = fields(json);
  const { type, code, message } = fields(error);
  const words =
    typeof error === 'string' ? error : [type, code, message].filter((word) => word !== undefined).join(' ');
  return words === '' ? `status ${status}` : `status ${status}, ${words}`;
}

/** Checks that the public API of the Zephr tenant responds where `/blaize/*` is forwarded to. */
export function zephrCheck(url: string | null): Check {
  return {
    service: 'zephr',
    missing: url === null ? 'set ZEPHR_URL' : null,
    steps: [{ asks: 'GET /blaize/account without a session', run: () => ask(url ?? '') }],
  };
}

async function ask(url: string): Promise<string> {
  const { status } = await request(`${url}/blaize/account`, 'ZEPHR_URL');
  if (status === 401) return '401, as expected without a session';
  throw new Trouble(
    `status ${status}`,
    "set ZEPHR_URL to the tenant's own CDN address, such as https://paper.cdn.zephr.com, with its public API switched on",
  );
}
