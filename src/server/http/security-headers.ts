/** Security headers: the same on every response, and a content security policy for pages. */
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { thirdPartySources } from '../../lib/third-party/sources.ts';
import { publication } from '../../publication.ts';
import type { Config } from '../config/config.ts';

/** Directives of a policy: name to sources. */
type Policy = Map<string, Set<string>>;

export interface SecurityHeaders {
  /** Headers of every response. */
  readonly always: Readonly<Record<string, string>>;
  /**
   * The policy of an HTML page.
   *
   * @param rendered the policy that Astro made for it, with the hashes of its scripts; `null` for a page without scripts
   */
  page(rendered: string | null): string;
  /**
   * Headers of an HTML page in addition to its policy: where browsers with the Reporting API report what the policy blocked.
   */
  readonly reporting: Readonly<Record<string, string>>;
  /** The policy of responses that aren't pages. */
  readonly other: string;
}

/** Where browsers report what the policy blocked; operators read it on their page. */
export const reportPath = '/-/csp-reports';
/** Name of that endpoint in `Reporting-Endpoints` and `report-to`. */
const endpoint = 'csp';

const other = "default-src 'none'; frame-ancestors 'self'";

type SecuritySettings = Pick<
  Config,
  'siteUrl' | 'wordpress' | 'imageHosts' | 'frameHosts' | 'thirdParties' | 'stripe'
> &
  Partial<Pick<Config, 'retention' | 'operatorToken' | 'consentPlatform'>>;

export function securityHeaders(config: SecuritySettings): SecurityHeaders {
  const secure = config.siteUrl.startsWith('https:');
  // Without an operator token the reports couldn't be read. The Reporting API needs https: over http, Chromium would send
  // reports to neither endpoint.
  const reports = Boolean(config.operatorToken);
  const { base, scriptHosts } = sitePolicy(config);
  // Policies differ only by the scripts of a route; the limit protects memory if that ever changes.
  const known = createBoundedMap<string>(500);

  return {
    always: {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), browsing-topics=()',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
    },
    page(rendered) {
      const key = rendered ?? '';
      let policy = known.get(key);
      if (!policy) {
        policy = print(merge(base, rendered === null ? "script-src 'none'" : rendered, scriptHosts));
        known.set(key, policy);
      }
      return policy;
    },
    reporting: reports && secure ? { 'reporting-endpoints': `${endpoint}="${reportPath}"` } : {},
    other,
  };
}

/** The site's own part of every page's policy, and the hosts that scripts may come from. */
function sitePolicy(config: SecuritySettings) {
  const secure = config.siteUrl.startsWith('https:');
  const reports = Boolean(config.operatorToken);
  const pictures = [
    ...(config.wordpress ? [new URL(config.wordpress.url).origin] : []),
    ...config.imageHosts.map(withScheme),
  ];
  const frames = [...publication.embeds.frameHosts, ...config.frameHosts].map(withScheme);
  const stripe = stripeSources(config.stripe);
  const others = thirdPartySources(config.thirdParties, config.consentPlatform);
  const retention = retentionSources(config.retention?.scriptUrl);
  const base: Record<string, readonly string[]> = {
    'default-src': ["'self'"],
    'base-uri': ["'self'"],
    'object-src': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'self'"],
    'img-src': ["'self'", 'data:', ...pictures, ...others['img-src'], ...retention.scripts],
    // Captions are in the page: those of another origin would need headers that WordPress's uploads do not have.
    'media-src': ["'self'", 'data:', ...pictures],
    'font-src': ["'self'", ...others['font-src']],
    'connect-src': ["'self'", ...others['connect-src'], ...stripe.connections, ...retention.connections],
    'frame-src': ["'self'", ...frames, ...stripe.frames, ...others['frame-src']],
    'manifest-src': ["'self'"],
    'worker-src': ["'self'"],
    // Inline styles are allowed: a focus point or a column count in a style attribute runs no code.
    'style-src': ["'self'", "'unsafe-inline'", ...others['style-src']],
    ...(secure && { 'upgrade-insecure-requests': [] }),
    // For browsers without the Reporting API; others use only `report-to`.
    ...(reports && { 'report-uri': [reportPath] }),
    ...(reports && secure && { 'report-to': [endpoint] }),
  };
  return { base, scriptHosts: [...others['script-src'], ...stripe.scripts, ...retention.scripts] };
}

/**
 * Sources for Stripe's script (docs.stripe.com/security/guide, "Content security policy"): it is loaded from one host, frames the card
 * fields from that host and its subdomains, and calls the API. Google Maps, which would complete addresses, is not allowed.
 */
function stripeSources(stripe: Config['stripe']): Readonly<Record<'scripts' | 'frames' | 'connections', string[]>> {
  if (!stripe) return { scripts: [], frames: [], connections: [] };
  const [script, api] = [new URL(stripe.scriptUrl), new URL(stripe.apiUrl)];
  const own = script.hostname.endsWith('.stripe.com');
  const below = own ? [`https://*.${script.hostname}`] : [];
  return {
    scripts: [script.origin, ...below],
    frames: [script.origin, ...below, ...(own ? ['https://hooks.stripe.com'] : [])],
    connections: [...new Set([api.origin, script.origin])],
  };
}

/**
 * Sources for the retention widget: its script and pictures from one host, its calls to another. A stand-in has only one host.
 */
function retentionSources(scriptUrl: string | undefined): Readonly<Record<'scripts' | 'connections', string[]>> {
  if (scriptUrl === undefined) return { scripts: [], connections: [] };
  const { origin, hostname } = new URL(scriptUrl);
  return {
    scripts: [origin],
    connections: [origin, ...(hostname.endsWith('.churnkey.co') ? ['https://api.churnkey.co'] : [])],
  };
}

/** A host as a source: https, or http on localhost. */
function withScheme(host: string): string {
  const local = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|$)/.test(host);
  return `${local ? 'http' : 'https'}://${host}`;
}

/**
 * Merges a rendered policy with the site's own: sources of one directive are combined, but script hashes come only from the
 * page.
 */
function merge(base: Record<string, readonly string[]>, rendered: string, scriptHosts: readonly string[]): Policy {
  const policy: Policy = new Map(Object.entries(base).map(([name, sources]) => [name, new Set(sources)]));
  for (const directive of rendered.split(';')) {
    const [name, ...sources] = directive.trim().split(/\s+/);
    if (!name) continue;
    const known = policy.get(name) ?? new Set();
    policy.set(name, known);
    for (const source of sources) known.add(source);
  }
  const styles = policy.get('style-src');
  // A hash in addition to 'unsafe-inline' would disable it.
  for (const source of styles ?? []) if (/^'(?:sha\d+|nonce)-/.test(source)) styles?.delete(source);
  const scripts = policy.get('script-src') ?? new Set(["'self'"]);
  policy.set('script-src', scripts);
  if (!scripts.has("'none'")) for (const host of scriptHosts) scripts.add(host);
  return policy;
}

const print = (policy: Policy): string => [...policy].map(([name, sources]) => [name, ...sources].join(' ')).join('; ');
