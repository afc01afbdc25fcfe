/**
 * Whether the browser fetches something for a page that its reader may never open: a prefetched or prerendered one (`Sec-Purpose`, which no
 * script can set; docs/decisions/0036). Such a request counts nothing.
 */
export const isFetchedAhead = ({ headers }: { readonly headers: Headers }): boolean =>
  headers.get('sec-purpose')?.startsWith('prefetch') === true;
