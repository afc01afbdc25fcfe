/** Third-party scripts: whether each one responds, and whether our content security policy allows the hosts that it names. */
import type { ConsentPlatform } from '../../lib/consent/platform.ts';
import {
  type ThirdParties,
  type ThirdPartyName,
  thirdPartyNames,
  thirdPartyPurposes,
} from '../../lib/third-party/settings.ts';
import { type Sources, thirdPartySources } from '../../lib/third-party/sources.ts';
import { type Check, request, Trouble } from './checks.ts';

interface Script {
  /** Setting that turns it on. */
  readonly setting: string;
  /** Its address as pages load it; `null` when it is off. */
  readonly url: string | null;
  /** Setting for hosts that it names and our policy blocks; without one, its hosts are not checked. */
  readonly hosts?: 'TAG_HOSTS' | 'CONSENT_PLATFORM_HOSTS';
}

/**
 * @param settings of the third parties whose scripts pages load
 * @param platform the consent platform
 * @param retention address of the script of the retention widget, which handles cancellation
 */
export function tagsCheck(
  settings: ThirdParties,
  platform: ConsentPlatform | null = null,
  retention: string | null = null,
): Check[] {
  const sources = thirdPartySources(settings, platform);
  const scripts = scriptsOf(settings);
  const check = (name: string, script: Script, allowed: readonly string[]): Check => ({
    service: 'tags',
    missing: script.url === null ? `set ${script.setting}` : null,
    steps: [{ asks: `the script of ${name}`, run: () => load(script, sources, allowed) }],
  });
  const own: Script = {
    setting: 'CONSENT_PLATFORM_URL',
    url: platform?.scriptUrl ?? null,
    hosts: 'CONSENT_PLATFORM_HOSTS',
  };
  const leaving: Script = { setting: 'CHURNKEY_APP_ID', url: retention };
  return [
    ...thirdPartyNames.flatMap((name) => {
      const script = scripts[name];
      return script ? [check(thirdPartyPurposes[name].name, script, sources['script-src'])] : [];
    }),
    check('the consent platform', own, sources['script-src']),
    // The policy follows its address (server/http/security-headers.ts).
    check('Churnkey', leaving, retention === null ? [] : [new URL(retention).origin]),
  ];
}

function scriptsOf(settings: ThirdParties): Partial<Record<ThirdPartyName, Script>> {
  const { tagManager, audience, webPush, referral, scheduling, ads } = settings;
  return {
    tagManager: {
      setting: 'GTM_CONTAINER',
      url: tagManager && withQuery(tagManager.scriptUrl, 'id', tagManager.container),
      hosts: 'TAG_HOSTS',
    },
    audience: { setting: 'MARFEEL_ACCOUNT', url: audience && withQuery(audience.scriptUrl, 'id', audience.account) },
    webPush: { setting: 'ONESIGNAL_APP_ID', url: webPush && `${webPush.sdkUrl}/OneSignalSDK.page.js` },
    referral: { setting: 'GROWSURF_CAMPAIGN', url: referral?.scriptUrl ?? null },
    scheduling: { setting: 'CALENDLY_URL', url: scheduling?.scriptUrl ?? null },
    ads: { setting: 'GPT_NETWORK', url: ads?.scriptUrl ?? null },
  };
}

function withQuery(address: string, name: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
}

async function load({ url, setting, hosts }: Script, sources: Sources, allowed: readonly string[]): Promise<string> {
  const address = url ?? '';
  if (!isAllowed(address, allowed)) {
    throw new Trouble(
      `our policy blocks ${new URL(address).origin}`,
      'report this: the policy must follow the script address',
    );
  }
  const reply = await request(address, setting);
  const type = reply.headers.get('content-type') ?? 'no media type';
  if (reply.status !== 200 || !/javascript|ecmascript/.test(type)) {
    throw new Trouble(
      `status ${reply.status}, ${type}`,
      `check ${setting}: copy the id again from the vendor's settings`,
    );
  }
  const blocked = hosts ? hostsIn(reply.text).filter((host) => !isNamed(host, sources)) : [];
  const size = `${Math.ceil(reply.text.length / 1024)} kB of script`;
  if (blocked.length === 0) return size;
  const named = `${blocked.slice(0, 8).join(', ')}${blocked.length > 8 ? ` and ${blocked.length - 8} more` : ''}`;
  // A platform names the pages of each of its vendors; only a browser shows what it really loads.
  if (hosts === 'CONSENT_PLATFORM_HOSTS')
    return `${size}; it names ${named}: those that it loads from belong in ${hosts}`;
  throw new Trouble(
    `the container names ${named}, which our policy blocks`,
    'put the hosts that your tags really use into TAG_HOSTS; the operators’ page shows what browsers report as blocked',
  );
}

/** Hosts that a script names as whole addresses. Google's own code names some that it never loads from a page. */
function hostsIn(text: string): string[] {
  const named = text.matchAll(/https:\/\/((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[/"'?:\\])/g);
  return [...new Set([...named].map(([, host = '']) => host))].filter((host) => !ignored.test(host)).toSorted();
}

const ignored =
  /(?:^|\.)(?:w3\.org|schema\.org|googletagmanager\.com|google\.com|googleapis\.com|gstatic\.com|doubleclick\.net)$/;

const isNamed = (host: string, sources: Sources): boolean =>
  Object.values(sources).some((allowed) => isAllowed(`https://${host}/`, allowed));

/** Whether a source list of a content security policy allows an address; hosts and `*.` hosts with a scheme (CSP3, 6.7.2.8). */
export function isAllowed(address: string, sources: readonly string[]): boolean {
  const { protocol, host } = new URL(address);
  return sources.some((source) => {
    const [, scheme, wild, name] = /^(https?:)\/\/(\*\.)?([^/]+)$/.exec(source) ?? [];
    if (scheme !== protocol || name === undefined) return false;
    return wild ? host.endsWith(`.${name}`) : host === name;
  });
}
