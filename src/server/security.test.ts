import { describe, expect, it } from 'vitest';
import { securityHeaders } from './security.ts';

const rendered = "script-src 'self' 'sha256-abc'";
const policyOf = (marfeelAccount: string | null, page: string | null = rendered) => {
  const headers = securityHeaders({
    siteUrl: 'https://paper.example',
    wordpress: null,
    imageHosts: [],
    frameHosts: [],
    marfeelAccount,
    stripe: null,
  });
  return Object.fromEntries(
    headers
      .page(page)
      .split('; ')
      .map((directive) => [directive.split(' ', 1)[0], directive]),
  );
};

describe('the policy of a page', () => {
  it('allows no host of the audience tool as long as there is no account', () => {
    const policy = policyOf(null);
    expect(policy['script-src']).toBe("script-src 'self' 'sha256-abc'");
    expect(policy['connect-src']).toBe("connect-src 'self'");
  });

  it('allows the audience tool its script and its reports, and nothing else of it', () => {
    const policy = policyOf('1234');
    expect(policy['script-src']).toBe("script-src 'self' 'sha256-abc' https://sdk.mrf.io");
    expect(policy['connect-src']).toBe("connect-src 'self' https://sdk.mrf.io https://events.newsroom.bi");
    expect(policy['img-src']).toBe("img-src 'self' data:");
  });

  it('keeps a page without scripts without scripts', () => {
    expect(policyOf('1234', null)['script-src']).toBe("script-src 'none'");
  });
});
