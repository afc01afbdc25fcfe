/** Loads a third party's script into the page: once at most, within a limited time, and never with an exception. */

export interface ScriptOptions {
  /** Milliseconds after which a script that has not come counts as lost; 10 seconds unless given. */
  readonly timeout?: number;
  /** Further attributes of the tag, such as `data-…` or `type`. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** `failed`: blocked, refused or broken off; `timeout`: not there in time, and taken out again. */
export type ScriptOutcome = { readonly ok: true } | { readonly ok: false; readonly why: 'failed' | 'timeout' };

const usualPatience = 10_000;

const scripts = new Map<string, Promise<ScriptOutcome>>();

/**
 * Loads a script. Asked for again while it comes or when it is there, it is the same one; after a failure it is fetched anew.
 *
 * @param src its address, which the policy of the page must allow (server/security.ts)
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

function inject(src: string, { timeout = usualPatience, attributes = {} }: ScriptOptions): Promise<ScriptOutcome> {
  return new Promise((resolve) => {
    const tag = document.createElement('script');
    tag.async = true;
    for (const [name, value] of Object.entries(attributes)) tag.setAttribute(name, value);
    tag.src = src;
    const lost = (why: 'failed' | 'timeout') => {
      clearTimeout(timer);
      // A tag that has failed is never tried again by the browser.
      tag.remove();
      resolve({ ok: false, why });
    };
    const timer = setTimeout(() => lost('timeout'), timeout);
    tag.addEventListener('error', () => lost('failed'));
    tag.addEventListener('load', () => {
      clearTimeout(timer);
      resolve({ ok: true });
    });
    document.head.append(tag);
  });
}
