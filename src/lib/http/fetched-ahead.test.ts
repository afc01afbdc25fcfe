import { expect, it } from 'vitest';
import { isFetchedAhead } from './fetched-ahead.ts';

const from = (purpose?: string) => ({ headers: new Headers(purpose === undefined ? {} : { 'sec-purpose': purpose }) });

it('knows requests of pages that may never be opened by their purpose', () => {
  for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip'])
    expect(isFetchedAhead(from(purpose)), purpose).toBe(true);
  for (const purpose of [undefined, '', 'navigate']) expect(isFetchedAhead(from(purpose)), purpose).toBe(false);
});
