/** Where a subscription came from (spec section 3, "Subscription metadata"). */
import type { GeoAnswer } from '../../lib/accounts/wire.ts';
import type { Answer } from '../../lib/http/ask.ts';

/** Longest value that is sent. */
const longest = 500;

/** `mobile`, `tablet` or `desktop`, by the width of the window (spec section 9, breakpoints). */
export const deviceType = (width: number): string => (width < 768 ? 'mobile' : width < 1024 ? 'tablet' : 'desktop');

/**
 * What is known, without what is empty.
 *
 * @param page address of the page that was joined on
 */
export function metadataOf(
  page: URL,
  email: string | null,
  width: number,
  geo: Answer<GeoAnswer>,
): Record<string, string> {
  const utm = (name: string) => page.searchParams.get(`utm_${name}`) ?? '';
  const place = geo.ok ? geo.value : null;
  const all: Record<string, string> = {
    created_with: 'web',
    customer_email: email ?? '',
    // Without the fragment, and without a newsletter's address of its reader.
    query_url: withoutReader(page),
    query_utm_campaign: utm('campaign'),
    query_utm_content: utm('content'),
    query_utm_medium: utm('medium'),
    query_utm_source: utm('source'),
    device_type: deviceType(width),
    geo_city: place?.city ?? '',
    geo_country: place?.country ?? '',
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, value.slice(0, longest)]),
  );
}

function withoutReader(page: URL): string {
  const url = new URL(page);
  url.hash = '';
  url.searchParams.delete('recognized_email');
  return url.href;
}
