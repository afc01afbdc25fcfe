import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bareSettings } from '../../../tests/world/http-servers.ts';
import { pageHeaders } from '../press/render-page.ts';
import { securityHeaders } from './security-headers.ts';
import { openStatics, speculationRules } from './static-files.ts';

const folder = fileURLToPath(new URL('../../../public', import.meta.url));
const statics = openStatics(folder);
const file = statics.answer(speculationRules, {});
const rules = JSON.parse(readFileSync(folder + speculationRules, 'utf8')) as Rules;
const [rule] = rules.prefetch;
const [prerender] = rules.prerender;

interface Rule<Pattern> {
  readonly source: string;
  readonly eagerness: string;
  readonly where: { readonly and: readonly [{ readonly href_matches: Pattern }, ...object[]] };
}

interface Rules {
  readonly prefetch: readonly Rule<readonly object[]>[];
  readonly prerender: readonly Rule<object>[];
}

/** Whether a link to an address is fetched ahead, as far as that depends on the address. */
const isAhead = (address: string): boolean =>
  rule?.where.and[0].href_matches.some((pattern) =>
    new URLPattern({ ...pattern, baseURL: 'https://paper.example' }).test(address, 'https://paper.example'),
  ) ?? false;

describe('the speculation rules', () => {
  it('are sent with the content type that browsers expect, and cached for a day', () => {
    expect(file?.headers['content-type']).toBe('application/speculationrules+json');
    expect(file?.headers['cache-control']).toBe('public, max-age=86400');
  });

  it('prefetch stored pages when a reader is about to open them', () => {
    expect(rule).toMatchObject({ source: 'document', eagerness: 'moderate' });
    for (const path of ['/', '/latest', '/article/a-story', '/article/a-story#comments', '/section/politics'])
      expect(isAhead(path), path).toBe(true);
    for (const path of ['/author/ann-lee', '/media', '/media/a-film']) expect(isAhead(path), path).toBe(true);
  });

  it.each([
    ...['/api/geo', '/cancel', '/dashboard/account', '/account/sign-out', '/account/unsubscribe?t=a', '/gift/token'],
    ...[
      '/blaize/token-exchange?token=a',
      '/blaize/oauth/google',
      '/socialLogin',
      '/pricing',
      '/search?q=a',
      '/preview',
    ],
    ...['/article/a-story/comments', '/article/a-story?utm_source=mail', '/article/a-story?recognized_email=a%40b.c'],
    ...['https://elsewhere.example/article/a-story', '/privacy-choices', '/image?url=a', '/rss.xml', '/-/press'],
  ])('never prefetch %s', (address) => expect(isAhead(address)).toBe(false));

  it('prerender only stories, and nothing that they don’t also prefetch', () => {
    expect(rules.prerender).toHaveLength(1);
    const pattern = prerender?.where.and[0].href_matches ?? {};
    expect(prerender).toMatchObject({ source: 'document', eagerness: 'moderate' });
    expect(rule?.where.and[0].href_matches).toContainEqual(pattern);
    expect(prerender?.where.and.slice(1)).toEqual(rule?.where.and.slice(1));
    const story = new URLPattern({ ...pattern, baseURL: 'https://paper.example' });
    const isPrerendered = (address: string): boolean => story.test(address, 'https://paper.example');
    expect(isPrerendered('/article/a-story')).toBe(true);
    for (const address of [
      '/',
      '/section/politics',
      '/media/a-film',
      '/article/a-story?utm_source=mail',
      '/gift/token',
    ])
      expect(isPrerendered(address), address).toBe(false);
  });

  it('are named only by HTML pages with status 200', () => {
    const security = securityHeaders(bareSettings);
    const dress = pageHeaders(security, { cdn: null, cdnHeaders: false });
    const headers = (status: number, type: string, policy?: string) =>
      dress({
        status,
        variant: 'public',
        tags: [],
        headers: { 'content-type': type, ...(policy && { 'content-security-policy': policy }) },
      } as unknown as Parameters<typeof dress>[0]);
    const page = headers(200, 'text/html', "script-src 'self' 'sha256-a'");
    expect(page['speculation-rules']).toBe(`"${speculationRules}"`);
    // The policy for scripts applies to the rules.
    expect(page['content-security-policy']).toContain("script-src 'self'");
    expect(headers(404, 'text/html')['speculation-rules']).toBeUndefined();
    expect(headers(200, 'application/xml')['speculation-rules']).toBeUndefined();
  });
});
