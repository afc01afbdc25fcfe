/**
 * Collects CSP reports in memory: grouped, limited in number, size and time, and without data about readers. Anyone can send reports,
 * so they are rejected as early as possible and treated only as a hint for operators.
 */
import type { IncomingMessage } from 'node:http';
import { type BeaconAnswer, readBeacon } from '../http/short-body.server.ts';

export interface CspReportStats {
  /** Reports counted since the start. */
  readonly noted: number;
  /** Requests refused since the start. */
  readonly refused: number;
  /** Number of kinds in memory. */
  readonly kinds: number;
}

export interface CspReports {
  /** Reads a request's reports. */
  receive(incoming: IncomingMessage, address: string): Promise<BeaconAnswer>;
  /** What is blocked, the most frequent first. */
  list(): readonly BlockedSource[];
  stats(): CspReportStats;
}

export interface CspReportOptions {
  readonly siteUrl: string;
  /** Counts a request of an address. @returns `null` if the request may be read, or else the seconds to wait */
  readonly admit: (address: string) => Promise<number | null>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** Largest request in bytes: `report-uri` sends one report, the Reporting API all reports of a minute, each with the whole policy. */
const longestBodies: ReadonlyMap<string, number> = new Map([
  ['application/csp-report', 16 * 1024],
  ['application/json', 16 * 1024],
  ['application/reports+json', 256 * 1024],
]);
/** Reports that are read of a request; Chromium keeps no more for one endpoint. */
const mostReports = 100;
/** Most kinds in memory, and milliseconds for which a kind is kept after its last report. */
const mostKinds = 200;
const keptMs = 7 * 24 * 60 * 60_000;

type Kind = { -readonly [Field in keyof BlockedSource]: BlockedSource[Field] };

export function createCspReports({ siteUrl, admit, now = Date.now }: CspReportOptions): CspReports {
  const kinds = new Map<string, Kind>();
  let noted = 0;
  let refused = 0;

  function note(found: Pick<BlockedSource, 'directive' | 'blocked' | 'page'>): void {
    const at = now();
    noted++;
    const name = `${found.directive} ${found.blocked}`;
    const known = kinds.get(name);
    if (known) {
      known.count++;
      known.last = at;
      known.page = found.page;
      return;
    }
    forgetOld(at);
    if (kinds.size >= mostKinds) dropLeast();
    const { directive, blocked, page } = found;
    kinds.set(name, { directive, blocked, page, count: 1, first: at, last: at });
  }

  function forgetOld(at: number): void {
    for (const [name, { last }] of kinds) if (at - last > keptMs) kinds.delete(name);
  }

  /** Removes the rarest kind, and of equally rare ones the oldest: forged reports displace each other and not frequent ones. */
  function dropLeast(): void {
    const [least] = [...kinds].toSorted(([, a], [, b]) => a.count - b.count || a.last - b.last);
    if (least) kinds.delete(least[0]);
  }

  return {
    async receive(incoming, address) {
      const [type = ''] = (incoming.headers['content-type'] ?? '').toLowerCase().split(';');
      const longestBody = longestBodies.get(type.trim());
      const read =
        longestBody === undefined
          ? { refused: { status: 415 } }
          : await readBeacon(incoming, longestBody, () => admit(address));
      if ('refused' in read) {
        refused++;
        return read.refused;
      }
      const reports = Array.isArray(read.value) ? read.value.slice(0, mostReports) : [read.value];
      for (const report of reports) {
        const found = readReport(report, siteUrl);
        if (found) note(found);
      }
      return { status: 204 };
    },
    list() {
      forgetOld(now());
      return [...kinds.values()].map((kind) => ({ ...kind })).toSorted((a, b) => b.count - a.count || b.last - a.last);
    },
    stats: () => ({ noted, refused, kinds: kinds.size }),
  };
}

/** Something that was blocked: one of these for each directive and origin, however often it happens. */
export interface BlockedSource {
  /** The directive that blocked it, e.g. `script-src-elem`. */
  readonly directive: string;
  /** Origin of what was blocked, or a keyword if it has none: `inline`, `eval`, `data:`. */
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

/** What `blocked-uri` says instead of an address. */
const keywords: ReadonlySet<string> = new Set(['inline', 'eval', 'wasm-eval', 'self', 'trusted-types-policy']);
/** Schemes whose addresses contain the content itself, or a random name. */
const opaqueScheme = /^(data|blob|filesystem|about)(?::|$)/;
/** Browser extensions are blocked like anything else, but don't concern the site. */
const extensionScheme = /^(?:chrome|moz|safari|safari-web|ms-browser)-extension(?::|$)/;
const longestField = 4096;

/**
 * Reads one report, in the form of `report-uri` (`csp-report`) or of the Reporting API (`body`).
 *
 * @param siteUrl origin of the site; reports about other pages are left out
 * @returns `null` if there is nothing to record
 */
export function readReport(
  report: unknown,
  siteUrl: string,
): Pick<BlockedSource, 'directive' | 'blocked' | 'page'> | null {
  const outer = fieldsOf(report);
  const inner = fieldsOf(outer['csp-report'] ?? (outer.type === 'csp-violation' ? outer.body : null));
  const text = (...names: readonly string[]): string => {
    const value = names.map((name) => inner[name]).find((one) => typeof one === 'string');
    return typeof value === 'string' && value.length <= longestField ? value : '';
  };
  const directive = text('effective-directive', 'effectiveDirective', 'violated-directive').split(' ', 1)[0] ?? '';
  if (!directives.has(directive)) return null;
  const page = pageOf(text('document-uri', 'documentURL'), siteUrl);
  const blocked = sourceOf(text('blocked-uri', 'blockedURL'));
  if (page === null || blocked === null || extensionScheme.test(text('source-file', 'sourceFile'))) return null;
  return { directive, blocked, page };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Only the kind of page: the rest of an address may contain a name, a search, or a secret. */
function pageOf(address: string, siteUrl: string): string | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  if (origin !== siteUrl) return null;
  const segment = pathname.split('/', 2)[1] ?? '';
  return /^[\w.-]{0,40}$/.test(segment) ? `/${segment}` : '/…';
}

function sourceOf(address: string): string | null {
  if (keywords.has(address)) return address;
  const scheme = opaqueScheme.exec(address)?.[1];
  if (scheme) return `${scheme}:`;
  if (extensionScheme.test(address) || !URL.canParse(address)) return null;
  const { protocol, host } = new URL(address);
  return /^(?:https?|wss?):$/.test(protocol) && host !== '' && host.length <= 253 ? `${protocol}//${host}` : null;
}
