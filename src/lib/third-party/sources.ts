/**
 * The Content-Security-Policy's sources for third parties: only for those that are configured. If a script comes from another
 * address than its default (a stand-in), only that origin is allowed.
 *
 * Sources: developers.google.com/tag-platform/security/guides/csp, documentation.onesignal.com (CSP), the vendors' own scripts.
 * Google's ad scripts come from changing hosts, and its documentation doesn't support policies that list hosts. Creatives are
 * therefore in frames (SafeFrame), which this policy doesn't cover.
 */
import type { ConsentPlatform } from '../consent/platform.ts';
import { defaultAddresses, type ThirdParties, type ThirdPartyName } from './settings.ts';

const directives = ['script-src', 'connect-src', 'frame-src', 'img-src', 'style-src', 'font-src'] as const;
type Directive = (typeof directives)[number];
/** Directive to sources. */
export type Sources = Readonly<Record<Directive, readonly string[]>>;

const defaultSources: Readonly<Record<ThirdPartyName, Partial<Sources>>> = {
  tagManager: {
    'script-src': ['https://www.googletagmanager.com'],
    'connect-src': [
      'https://www.googletagmanager.com',
      'https://www.google.com',
      'https://*.google-analytics.com',
      // A wildcard covers the subdomains, never the domain itself.
      'https://analytics.google.com',
      'https://*.analytics.google.com',
    ],
    'img-src': ['https://www.googletagmanager.com', 'https://www.google.com', 'https://*.google-analytics.com'],
    'frame-src': ['https://www.googletagmanager.com'],
  },
  audience: {
    'script-src': ['https://sdk.mrf.io'],
    'connect-src': ['https://sdk.mrf.io', 'https://events.newsroom.bi'],
  },
  webPush: {
    'script-src': ['https://cdn.onesignal.com', 'https://api.onesignal.com'],
    'connect-src': ['https://api.onesignal.com', 'https://onesignal.com'],
    'img-src': ['https://img.onesignal.com'],
    'style-src': ['https://onesignal.com'],
  },
  referral: {
    'script-src': ['https://app.growsurf.com'],
    'connect-src': ['https://app.growsurf.com', 'https://api.growsurf.com'],
    'frame-src': ['https://app.growsurf.com'],
    'img-src': ['https://app.growsurf.com'],
    'style-src': ['https://app.growsurf.com'],
  },
  scheduling: {
    'script-src': ['https://assets.calendly.com'],
    'style-src': ['https://assets.calendly.com'],
    'img-src': ['https://assets.calendly.com'],
    'frame-src': ['https://calendly.com'],
  },
  ads: {
    'script-src': [
      'https://securepubads.g.doubleclick.net',
      'https://pagead2.googlesyndication.com',
      'https://tpc.googlesyndication.com',
      'https://www.googletagservices.com',
      'https://*.adtrafficquality.google',
    ],
    'connect-src': [
      'https://securepubads.g.doubleclick.net',
      'https://pagead2.googlesyndication.com',
      'https://googleads.g.doubleclick.net',
      'https://csi.gstatic.com',
      'https://*.adtrafficquality.google',
    ],
    'frame-src': [
      'https://*.safeframe.googlesyndication.com',
      'https://securepubads.g.doubleclick.net',
      'https://googleads.g.doubleclick.net',
      'https://tpc.googlesyndication.com',
      'https://www.google.com',
      'https://*.adtrafficquality.google',
    ],
    'img-src': [
      'https://pagead2.googlesyndication.com',
      'https://securepubads.g.doubleclick.net',
      'https://googleads.g.doubleclick.net',
      'https://*.adtrafficquality.google',
    ],
  },
};

/** The configured address of each script, with its default address. */
function addressesOf(settings: ThirdParties): { name: ThirdPartyName; set: string; standard: string }[] {
  const { tagManager, audience, webPush, referral, scheduling, ads } = settings;
  const found = (name: ThirdPartyName, set: string | undefined) =>
    set === undefined ? [] : [{ name, set, standard: defaultAddresses[name] }];
  return [
    ...found('tagManager', tagManager?.scriptUrl),
    ...found('audience', audience?.scriptUrl),
    ...found('webPush', webPush?.sdkUrl),
    ...found('referral', referral?.scriptUrl),
    ...found('scheduling', scheduling?.scriptUrl),
    ...found('ads', ads?.scriptUrl),
  ];
}

/** The sources of a consent platform: its script's host and the configured ones, because it renders its own dialog. */
const platformSources = (platform: ConsentPlatform | null): readonly string[] =>
  platform ? [new URL(platform.scriptUrl).origin, ...platform.hosts.map((host) => `https://${host}`)] : [];

/** The sources of the configured third parties, and of a consent platform. */
export function thirdPartySources(settings: ThirdParties, platform: ConsentPlatform | null = null): Sources {
  const allowed = new Map<Directive, Set<string>>(directives.map((directive) => [directive, new Set()]));
  for (const { name, set, standard } of addressesOf(settings)) {
    const origin = new URL(set).origin;
    const isDefault = origin === new URL(standard).origin;
    for (const directive of directives)
      for (const source of isDefault ? (defaultSources[name][directive] ?? []) : [origin])
        allowed.get(directive)?.add(source);
  }
  // The booking page is in a frame, whatever the address of the script.
  if (settings.scheduling) allowed.get('frame-src')?.add(new URL(settings.scheduling.url).origin);
  for (const host of settings.tagManager?.hosts ?? [])
    for (const directive of ['script-src', 'connect-src', 'img-src', 'frame-src'] as const)
      allowed.get(directive)?.add(`https://${host}`);
  for (const source of platformSources(platform))
    for (const directive of directives) allowed.get(directive)?.add(source);
  return Object.fromEntries(
    [...allowed].map(([directive, sources]) => [directive, [...sources]]),
  ) as unknown as Sources;
}

/** The policy of the push worker, which loads its other scripts itself. */
export function workerPolicy({ sdkUrl }: NonNullable<ThirdParties['webPush']>): string {
  const origin = new URL(sdkUrl).origin;
  const isDefault = origin === new URL(defaultAddresses.webPush).origin;
  const api = isDefault ? ' https://api.onesignal.com https://onesignal.com' : '';
  return `default-src 'none'; script-src 'self' ${origin}; connect-src 'self' ${origin}${api}`;
}
