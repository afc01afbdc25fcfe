/** What browsers report as blocked by our content security policy, reduced to what says nothing about a reader. */

/** Something that was blocked: one of these for each directive and origin, however often it happens. */
export interface BlockedSource {
  /** The directive that blocked it, e.g. `script-src-elem`. */
  readonly directive: string;
  /** Origin of what was blocked, or a word for what has none: `inline`, `eval`, `data:`. */
  readonly blocked: string;
  /** First segment of the path of a page on which it happened: `/article`, `/`. */
  readonly page: string;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly first: number;
  readonly last: number;
}

/** Directives that a report may name (W3C Content Security Policy Level 3). */
const directives: ReadonlySet<string> = new Set([
  'base-uri',
  'child-src',
  'connect-src',
  'default-src',
  'font-src',
  'form-action',
  'frame-ancestors',
  'frame-src',
  'img-src',
  'manifest-src',
  'media-src',
  'object-src',
  'script-src',
  'script-src-attr',
  'script-src-elem',
  'style-src',
  'style-src-attr',
  'style-src-elem',
  'worker-src',
]);

const words: ReadonlySet<string> = new Set(['inline', 'eval', 'wasm-eval', 'self', 'trusted-types-policy']);
/** Schemes whose addresses hold the content itself, or a random name. */
const bare = /^(data|blob|filesystem|about)(?::|$)/;
/** A browser's extensions are blocked as anything else, and are no business of the site's. */
const extension = /^(?:chrome|moz|safari|safari-web|ms-browser)-extension(?::|$)/;
const longest = 4096;

/**
 * Reads one report, in the form of `report-uri` (`csp-report`) or of the Reporting API (`body`).
 *
 * @param siteUrl origin of the site; reports about other pages are none of ours
 * @returns `null` when there is nothing to note
 */
export function readReport(
  report: unknown,
  siteUrl: string,
): Pick<BlockedSource, 'directive' | 'blocked' | 'page'> | null {
  const outer = fieldsOf(report);
  const inner = fieldsOf(outer['csp-report'] ?? (outer.type === 'csp-violation' ? outer.body : null));
  const text = (...names: readonly string[]): string => {
    const value = names.map((name) => inner[name]).find((one) => typeof one === 'string');
    return typeof value === 'string' && value.length <= longest ? value : '';
  };
  const directive = text('effective-directive', 'effectiveDirective', 'violated-directive').split(' ', 1)[0] ?? '';
  if (!directives.has(directive)) return null;
  const page = pageOf(text('document-uri', 'documentURL'), siteUrl);
  const blocked = sourceOf(text('blocked-uri', 'blockedURL'));
  if (page === null || blocked === null || extension.test(text('source-file', 'sourceFile'))) return null;
  return { directive, blocked, page };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Only the kind of page: the rest of an address may hold a name, a search, or a secret. */
function pageOf(address: string, siteUrl: string): string | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  if (origin !== siteUrl) return null;
  const segment = pathname.split('/', 2)[1] ?? '';
  return /^[\w.-]{0,40}$/.test(segment) ? `/${segment}` : '/…';
}

function sourceOf(address: string): string | null {
  if (words.has(address)) return address;
  const scheme = bare.exec(address)?.[1];
  if (scheme) return `${scheme}:`;
  if (extension.test(address) || !URL.canParse(address)) return null;
  const { protocol, host } = new URL(address);
  return /^(?:https?|wss?):$/.test(protocol) && host !== '' && host.length <= 253 ? `${protocol}//${host}` : null;
}
