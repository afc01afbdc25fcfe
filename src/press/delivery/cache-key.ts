/**
 * Turns a request's target into the key of a page. Only the path and the parameters that the page is known to use are part of a key: no
 * host, header or other parameter can create a second copy of a page, or replace a page with another.
 */
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { encodeSegment } from '../../lib/text.ts';

/** Parameters that the pages of a path use. */
export interface QueryRule {
  /** Applied to the normalized path. */
  readonly path: RegExp;
  /** Patterns of the values by parameter name; a value that doesn't match is dropped. The key has this order. */
  readonly allow: Readonly<Record<string, RegExp>>;
}

/** A redirect that the publisher has configured. */
export interface RedirectRule {
  /** A path; `/*` at the end matches all paths below it. */
  readonly from: string;
  /** A path or an http(s) address; a `*` at its end is replaced by what `/*` matched. */
  readonly to: string;
  readonly status: 301 | 302 | 307 | 308 | 410;
}

export interface KeyRules {
  readonly queries: readonly QueryRule[];
  /** Paths that are never stored: API calls, search, pictures. They keep their query. */
  readonly uncached: readonly RegExp[];
  /** Addresses with capital letters; any other spelling of them is redirected. */
  readonly capitals: readonly string[];
  /** Whether a path, in lower case, is an address of the site: then its other spellings are redirected to it. */
  readonly exists: (path: string) => boolean;
  readonly redirects: readonly RedirectRule[];
  /** Called with every rule that has no effect, because its path is never stored. */
  readonly onUnused?: ((rule: RedirectRule) => void) | undefined;
}

export type KeyResult =
  | { readonly kind: 'page'; readonly key: string; readonly path: string }
  | { readonly kind: 'redirect'; readonly location: string; readonly status: number }
  | { readonly kind: 'reject'; readonly status: 400 | 404 | 410 | 414; readonly why: string }
  /** Never stored. `target` is what to render: the normalized path with the query as received. */
  | { readonly kind: 'uncached'; readonly path: string; readonly target: string };

export type KeyOf = (method: string, target: string) => KeyResult;

const longestPath = 1024;
const longestTarget = 4096;
/** Longest target whose result is cached. */
const longestKept = 200;

/** @throws Error that lists every invalid redirect rule */
export function createKeys(rules: KeyRules): KeyOf {
  const isUncached = (path: string): boolean => rules.uncached.some((pattern) => pattern.test(path));
  const redirects = readRedirects(rules, isUncached);
  const capitals = new Map(rules.capitals.map((path) => [path.toLowerCase(), path]));
  const recent = createBoundedMap<KeyResult>(4096);

  function read(target: string, reading: boolean, wholeIsPlain = false): KeyResult {
    const cut = target.indexOf('?');
    const rawPath = cut === -1 ? target : target.slice(0, cut);
    const query = cut === -1 ? '' : target.slice(cut + 1).split('#', 1)[0];
    const isPlain = (wholeIsPlain || plain.test(rawPath)) && rawPath.length <= longestPath;
    const split = isPlain ? asItIs(rawPath) : segmentsOf(rawPath);
    if (typeof split === 'number') return { kind: 'reject', status: split as 400, why: reasons[split] ?? '' };
    const withSlash = split.path !== '/' && split.slash;
    const { path } = split;
    const rest = query ? `?${query}` : '';
    if (!reading || isUncached(path)) {
      // The address of an uncached page is normalized like others; an API call's address isn't.
      if (reading && (withSlash || split.moved) && rules.exists(path)) {
        return { kind: 'redirect', location: path + rest, status: 301 };
      }
      return { kind: 'uncached', path, target: path + rest };
    }

    const own = redirects(path);
    if (own) {
      if (own.status === 410) return { kind: 'reject', status: 410, why: 'This page has been removed.' };
      return { kind: 'redirect', location: withQuery(own.to, rest), status: own.status };
    }
    // Without capital letters or escapes, only addresses in the list of capitals can have another spelling.
    const canonical = isPlain ? (capitals.get(path) ?? path) : spelling(path);
    if (canonical !== path || withSlash || split.moved)
      return { kind: 'redirect', location: canonical + rest, status: 301 };
    return { kind: 'page', key: path + keptQuery(path, query ?? ''), path };
  }

  function spelling(path: string): string {
    const lower = lowerCase(path);
    const capital = capitals.get(lower);
    if (capital !== undefined) return capital;
    return lower !== path && rules.exists(lower) ? lower : path;
  }

  function keptQuery(path: string, query: string): string {
    if (query === '') return '';
    const rule = rules.queries.find((one) => one.path.test(path));
    if (!rule) return '';
    const given = new URLSearchParams(query);
    const parts: string[] = [];
    for (const [name, form] of Object.entries(rule.allow)) {
      const value = given.get(name);
      if (value !== null && form.test(value)) parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    }
    return parts.length > 0 ? `?${parts.join('&')}` : '';
  }

  return (method, target) => {
    const reading = method === 'GET' || method === 'HEAD';
    const known = reading ? recent.get(target) : undefined;
    if (known) return known;
    if (target.length > longestTarget) return { kind: 'reject', status: 414, why: reasons[414] ?? '' };
    const isPlain = plain.test(target);
    const path = isPlain ? copyOf(target) : pathOf(target);
    if (path === null) return { kind: 'reject', status: 400, why: reasons[400] ?? '' };
    const result = read(path, reading, isPlain);
    // A result that depends on which pages exist isn't remembered.
    if (reading && result.kind === 'page' && target.length <= longestKept && lowerCase(result.path) === result.path) {
      recent.set(copyOf(target), result);
    }
    return result;
  };
}

/** A redirect's target with the query of the request, unless it has its own. @param query with its question mark, or empty */
function withQuery(target: string, query: string): string {
  const [place = '', ...fragment] = target.split(/(?=#)/);
  return place.includes('?') ? target : place + query + fragment.join('');
}

/** A copy: a substring of a request's head would keep the whole head in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** Paths that are in normal form already and contain no characters that need a check. */
const plain = /^(?:\/|(?:\/[a-z0-9_~-][a-z0-9._~-]*)+)$/;
const asItIs = (path: string) => ({ path, slash: false, moved: false });

const reasons: Readonly<Record<number, string>> = {
  400: 'The address is not valid.',
  414: 'The address is too long.',
};

/** The path and query of a target, which a proxy may send as a whole address; `null` if it is neither. */
function pathOf(target: string): string | null {
  if (target.startsWith('/')) return target;
  const whole = /^https?:\/\/[^/?#]*(\/?[^#]*)/i.exec(target);
  if (!whole) return null;
  return whole[1]?.startsWith('/') ? whole[1] : `/${whole[1] ?? ''}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a path and returns its normal form, or the status of a refusal. */
function segmentsOf(raw: string): { path: string; slash: boolean; moved: boolean } | 400 | 414 {
  if (raw.length > longestPath) return 414;
  let text = raw;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x20\x7f\\]/.test(raw)) return 400;
  if (/[\x80-\xff]/.test(raw)) {
    // Node decodes the bytes as Latin-1; addresses are UTF-8.
    try {
      text = utf8.decode(Buffer.from(raw, 'latin1'));
    } catch {
      return 400;
    }
  }
  const segments: string[] = [];
  let moved = false;
  const parts = text.split('/').slice(1);
  for (const [place, part] of parts.entries()) {
    let plain: string;
    try {
      plain = decodeURIComponent(part);
    } catch {
      return 400;
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (/[\x00-\x1f\x7f\\]/.test(plain)) return 400;
    if (plain === '.' || plain === '..') {
      if (plain === '..') segments.pop();
      moved = true;
    } else if (plain === '') {
      if (place < parts.length - 1) moved = true;
    } else {
      segments.push(encodeSegment(plain));
    }
  }
  const path = `/${segments.join('/')}`;
  return { path, slash: text.endsWith('/'), moved };
}

/** The path in lower case and composed (NFC); percent escapes keep their spelling. */
const lowerCase = (path: string): string =>
  /[A-Z%]/.test(path)
    ? path
        .split('/')
        .map((segment) => encodeSegment(decodeURIComponent(segment).normalize('NFC').toLowerCase()))
        .join('/')
    : path;

/** Letters outside of ASCII in a publisher's rule, as a request has them and as a header may carry them. */
const inAscii = (rule: RedirectRule): RedirectRule => ({
  ...rule,
  from: escapeLetters(rule.from),
  to: /^https?:/i.test(rule.to) && beyondAscii.test(rule.to) ? new URL(rule.to).href : escapeLetters(rule.to),
});
const beyondAscii = /[^\0-\x7f]+/u;
const escapeLetters = (path: string): string => path.replace(new RegExp(beyondAscii, 'gu'), encodeSegment);

function readRedirects(
  { redirects: given, onUnused }: KeyRules,
  isUncached: (path: string) => boolean,
): (path: string) => RedirectRule | undefined {
  const redirects = given.map(inAscii);
  const exact = new Map<string, RedirectRule>();
  const below: { readonly start: string; readonly rule: RedirectRule }[] = [];
  const problems: string[] = [];
  for (const rule of redirects) {
    const wide = rule.from.endsWith('/*');
    const split = segmentsOf(wide ? rule.from.slice(0, -2) || '/' : rule.from);
    if (!rule.from.startsWith('/') || typeof split === 'number') problems.push(`${rule.from} isn't a path`);
    else if (rule.status !== 410 && !/^(?:\/(?![/\\])|https?:\/\/)/.test(rule.to)) {
      problems.push(`${rule.from} leads to ${rule.to}, which is neither a path nor an address`);
    } else {
      const path = wide ? `${split.path === '/' ? '' : split.path}/` : split.path;
      // Redirects are looked up after these paths.
      if (isUncached(path)) onUnused?.(rule);
      else if (wide) below.push({ start: path, rule });
      else exact.set(path, rule);
    }
  }
  below.sort((a, b) => b.start.length - a.start.length);

  function follow(path: string): RedirectRule | undefined {
    const rule = exact.get(path);
    if (rule) return rule.to === path ? undefined : rule;
    const wide = below.find(({ start }) => path.startsWith(start));
    if (!wide) return undefined;
    const rest = path.slice(wide.start.length);
    const to = wide.rule.to.endsWith('*') ? wide.rule.to.slice(0, -1) + rest : wide.rule.to;
    return to === path ? undefined : { ...wide.rule, to };
  }

  for (const rule of redirects) {
    const seen = new Set<string>();
    let path = rule.from;
    for (let next = follow(path); next && next.status !== 410 && next.to.startsWith('/'); next = follow(path)) {
      if (seen.has(path)) {
        problems.push(`${rule.from} leads back to itself`);
        break;
      }
      seen.add(path);
      path = next.to.split(/[?#]/, 1)[0] ?? '/';
      if (seen.size > 20) {
        problems.push(`${rule.from} leads through more than 20 redirects`);
        break;
      }
    }
  }
  if (problems.length > 0) throw new Error(`The list of redirects is invalid: ${problems.join('; ')}.`);
  return follow;
}
