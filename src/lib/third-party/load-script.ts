/** Loads a third party's script into the page: at most once, with a time limit, and without throwing. */

export interface ScriptOptions {
  /** Milliseconds after which the script counts as failed; 10 seconds unless given. */
  readonly timeout?: number;
  /** The global that it must define, else it counts as failed. */
  readonly defines?: string;
  /** Further attributes of the tag, such as `data-…` or `type`. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** `failed`: blocked, refused, interrupted or empty; `timeout`: not loaded in time, and removed from the page. */
export type ScriptOutcome = { readonly ok: true } | { readonly ok: false; readonly why: 'failed' | 'timeout' };

const defaultTimeoutMs = 10_000;

const scripts = new Map<string, Promise<ScriptOutcome>>();

/**
 * Loads a script. Further calls while it loads or after it has loaded share it; after a failure it is fetched again.
 *
 * @param src its address, which the page's policy must allow (server/http/security-headers.ts)
 */
export function loadScriptOnce(src: string, options: ScriptOptions = {}): Promise<ScriptOutcome> {
  let outcome = scripts.get(src);
  if (!outcome) {
    outcome = inject(src, options);
    scripts.set(src, outcome);
    void outcome.then(({ ok }) => ok || scripts.delete(src));
  }
  return outcome;
}

function inject(
  src: string,
  { timeout = defaultTimeoutMs, defines, attributes = {} }: ScriptOptions,
): Promise<ScriptOutcome> {
  return new Promise((resolve) => {
    const tag = document.createElement('script');
    tag.async = true;
    for (const [name, value] of Object.entries(attributes)) tag.setAttribute(name, value);
    tag.src = src;
    const lost = (why: 'failed' | 'timeout') => {
      clearTimeout(timer);
      // The browser never retries a tag that has failed.
      tag.remove();
      resolve({ ok: false, why });
    };
    const timer = setTimeout(() => lost('timeout'), timeout);
    tag.addEventListener('error', () => lost('failed'));
    tag.addEventListener('load', () => {
      if (defines !== undefined && Reflect.get(window, defines) === undefined) return lost('failed');
      clearTimeout(timer);
      resolve({ ok: true });
    });
    document.head.append(tag);
  });
}
