import { describe, expect, it } from 'vitest';
import { bareSettings } from '../../../tests/world/http-servers.ts';
import { noThirdParties, type ThirdParties } from '../../lib/third-party/settings.ts';
import { parseConfig } from '../config/config.ts';
import { securityHeaders } from './security-headers.ts';

const rendered = "script-src 'self' 'sha256-abc'";
const policyOf = (thirdParties: ThirdParties, page: string | null = rendered) => {
  const headers = securityHeaders({ ...bareSettings, thirdParties });
  return Object.fromEntries(
    headers
      .page(page)
      .split('; ')
      .map((directive) => [directive.split(' ', 1)[0], directive]),
  );
};
const settings = (env: Record<string, string>) => parseConfig(env).thirdParties;
const ids = {
  GTM_CONTAINER: 'GTM-ABCD',
  MARFEEL_ACCOUNT: '1234',
  ONESIGNAL_APP_ID: '01234567-89ab-cdef-0123-456789abcdef',
  GROWSURF_CAMPAIGN: 'abc123',
  CALENDLY_URL: 'https://calendly.com/the-sun/call',
  GPT_NETWORK: '1234567',
};

describe('the Content-Security-Policy of a page', () => {
  it('allows the hosts of a consent platform', () => {
    const { consentPlatform, thirdParties } = parseConfig({
      CONSENT_PLATFORM_URL: 'https://cmp.example.com/choice.js?id=1',
      CONSENT_PLATFORM_HOSTS: '*.consent.example.net',
    });
    const config = { siteUrl: 'https://paper.example', wordpress: null, imageHosts: [], frameHosts: [], stripe: null };
    const policy = securityHeaders({ ...config, thirdParties, consentPlatform }).page(rendered);
    for (const directive of ['script-src', 'connect-src', 'frame-src', 'style-src'])
      expect(policy.split('; ').find((one) => one.startsWith(directive))).toContain(
        ' https://cmp.example.com https://*.consent.example.net',
      );
    expect(() => parseConfig({ CONSENT_PLATFORM_HOSTS: 'a.example' })).toThrow(/CONSENT_PLATFORM_URL is missing/);
  });

  it('names the address of reports only when operators can read them', () => {
    const headers = (operatorToken: string | null, siteUrl = bareSettings.siteUrl) =>
      securityHeaders({ ...bareSettings, siteUrl, operatorToken });
    const reporting = headers('a-token');
    expect(reporting.page(rendered)).toMatch(/; report-uri \/-\/csp-reports; report-to csp(?:;|$)/);
    expect(reporting.reporting).toEqual({ 'reporting-endpoints': 'csp="/-/csp-reports"' });
    // Chromium accepts only https endpoints, and with `report-to` it doesn't use `report-uri`.
    const plain = headers('a-token', 'http://paper.example');
    expect(plain.page(rendered)).toMatch(/; report-uri \/-\/csp-reports(?:;|$)/);
    expect(plain.page(rendered)).not.toContain('report-to');
    expect(plain.reporting).toEqual({});
    expect(headers(null).page(rendered)).not.toContain('report');
    expect(headers(null).reporting).toEqual({});
  });

  it('allows no third-party host when none is configured', () => {
    const policy = policyOf(noThirdParties);
    expect(policy['script-src']).toBe("script-src 'self' 'sha256-abc'");
    expect(policy['connect-src']).toBe("connect-src 'self'");
    expect(policy['style-src']).toBe("style-src 'self' 'unsafe-inline'");
  });

  it('allows the audience tool only its script and its reports', () => {
    const policy = policyOf(settings({ MARFEEL_ACCOUNT: '1234' }));
    expect(policy['script-src']).toBe("script-src 'self' 'sha256-abc' https://sdk.mrf.io");
    expect(policy['connect-src']).toBe("connect-src 'self' https://sdk.mrf.io https://events.newsroom.bi");
    expect(policy['img-src']).toBe("img-src 'self' data:");
  });

  it('allows the hosts that Google’s guide names for Tag Manager and Analytics, and wildcards for tags', () => {
    const policy = policyOf(settings({ GTM_CONTAINER: 'GTM-ABCD', TAG_HOSTS: '*.g.doubleclick.net,tags.example.com' }));
    for (const host of ['www.google.com', 'analytics.google.com', '*.analytics.google.com', '*.google-analytics.com'])
      expect(policy['connect-src']?.split(' ')).toContain(`https://${host}`);
    expect(policy['frame-src']).toContain(' https://www.googletagmanager.com');
    for (const directive of ['script-src', 'connect-src', 'img-src', 'frame-src'])
      expect(policy[directive]).toContain(' https://*.g.doubleclick.net https://tags.example.com');
    // A wildcard for a whole top-level domain, or in the middle, would allow nearly everything.
    for (const host of ['*.com', '*', 'tags.*.com', '*.']) {
      expect(() => settings({ GTM_CONTAINER: 'GTM-ABCD', TAG_HOSTS: host }), host).toThrow(/TAG_HOSTS/);
    }
  });

  it('allows only the hosts of vendors that are configured, and nothing inline', () => {
    const alone: Record<string, string> = {
      GTM_CONTAINER: 'https://www.googletagmanager.com',
      ONESIGNAL_APP_ID: 'https://cdn.onesignal.com',
      GROWSURF_CAMPAIGN: 'https://app.growsurf.com',
      CALENDLY_URL: 'https://assets.calendly.com',
      GPT_NETWORK: 'https://securepubads.g.doubleclick.net',
    };
    for (const [name, host] of Object.entries(alone)) {
      const scripts = policyOf(settings({ [name]: ids[name as keyof typeof ids] }))['script-src'] ?? '';
      for (const other of Object.values(alone))
        expect(scripts.includes(other), `${name}: ${other}`).toBe(other === host);
    }
    const all = policyOf(settings({ ...ids, TAG_HOSTS: 'tags.example.com' }));
    expect(all['script-src']).not.toMatch(/'unsafe-|https:(?:\s|$)|\s\*(?:\s|$)/);
    expect(all['script-src']).toContain(' https://tags.example.com');
    expect(all['frame-src']).toContain(' https://calendly.com');
    expect(all['default-src']).toBe("default-src 'self'");
  });

  it('allows a replacement for a vendor’s script address, and not the vendor’s own', () => {
    const policy = policyOf(settings({ ...ids, GPT_SCRIPT_URL: 'http://127.0.0.1:9/gpt.js' }));
    expect(policy['script-src']).toContain(' http://127.0.0.1:9');
    expect(Object.values(policy).join(' ')).not.toContain('doubleclick');
  });

  it('allows no scripts on a page that has none', () => {
    expect(policyOf(settings(ids), null)['script-src']).toBe("script-src 'none'");
  });
});
