/**
 * Keeps the banner on pages in sync with the content store's alert: it is rendered once as a fragment (`/fragments/alert`) and inserted
 * into stored pages by the press of each process. It is removed when the alert's time is over.
 */
import { alertFragment } from '../../lib/alerts/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { oneAtATime, repeat } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Insertion } from '../../press/cache/insertions.server.ts';
import type { Press } from '../../press/press.server.ts';
import { alertInsertion } from './insertions.ts';

export interface AlertBannerOptions {
  readonly press: Pick<Press, 'get' | 'encoded' | 'insert'>;
  readonly reader: () => ContentReader;
  /** Gives the banner to other processes that serve this site's pages; `null`: none. */
  readonly onBanner?: ((html: string | null) => void) | undefined;
  /** Called when an alert's time is over and pages no longer show it. */
  readonly onEnd: () => void;
  readonly log: Logger;
  /** Milliseconds between two looks at the clock (default 500). */
  readonly everyMs?: number;
}

export interface AlertBanner {
  /** Updates the pages of this process. A withdrawn alert is removed before this returns; a new one is shown when it resolves. */
  update(): Promise<void>;
  /** The insertion, also for pages that are rendered for one reader. */
  current(): Insertion | null;
  /** The banner as markup, for a process that joins. */
  html(): string | null;
  stop(): Promise<void>;
}

interface State extends AlertBannerOptions {
  /** Id and text of the alert that pages show. */
  shown: string | null;
  html: string | null;
  insertion: Insertion | null;
  /** Renders the banner, one time after the other. */
  readonly update: () => Promise<void>;
  /** When the banner couldn't be rendered, by the monotonic clock. */
  failedAt: number;
}

/** Milliseconds until a banner that couldn't be rendered is tried again. */
const retryMs = 5000;

export function createAlertBanner(options: AlertBannerOptions): AlertBanner {
  const state: State = {
    ...options,
    shown: null,
    html: null,
    insertion: null,
    update: oneAtATime(() =>
      update(state).catch((error: unknown) =>
        options.log.error({ err: error }, "The alert's banner couldn't be updated"),
      ),
    ),
    failedAt: Number.NEGATIVE_INFINITY,
  };
  const checks = repeat(
    options.everyMs ?? 500,
    () => check(state),
    (error) => options.log.error({ err: error }, "The alert's time couldn't be checked"),
  );
  return {
    update: () => startUpdate(state),
    current: () => state.insertion,
    html: () => state.html,
    stop: checks.stop,
  };
}

function startUpdate(state: State): Promise<void> {
  if (wanted(state) !== state.shown) show(state, null, null);
  return state.update();
}

/** Removes an alert whose time is over, and retries a failed render. */
async function check(state: State): Promise<void> {
  const alert = wanted(state);
  if (alert === state.shown) return;
  if (alert === null) {
    show(state, null, null);
    state.onEnd();
  } else if (performance.now() - state.failedAt >= retryMs) await startUpdate(state);
}

/** The alert that pages should show. */
const wanted = ({ reader }: State): string | null => {
  const alert = reader().alert();
  return alert && JSON.stringify(alert);
};

function show(state: State, alert: string | null, html: string | null): void {
  if (alert === state.shown) return;
  state.shown = alert;
  state.html = html;
  state.insertion = html === null ? null : alertInsertion(html);
  state.press.insert(state.insertion);
  state.onBanner?.(html);
}

/** Renders the alert, and once more if another one should be shown by then. */
async function update(state: State): Promise<void> {
  const alert = wanted(state);
  if (alert === state.shown) return;
  const html = alert === null ? null : await render(state);
  if (alert !== null && html === null) state.failedAt = performance.now();
  if (wanted(state) !== alert) void state.update();
  else show(state, html === null ? null : alert, html);
}

/** @returns `null` when it can't be rendered: pages are served without it */
async function render({ press, log }: State): Promise<string | null> {
  try {
    const page = await press.get(alertFragment, 'public');
    const body = page.status === 200 ? press.encoded(page, ['identity'])?.body : undefined;
    // Empty if the alert has ended in the meantime.
    if (body) return body.toString().trim() || null;
    log.error({ status: page.status }, "The alert's banner couldn't be rendered");
  } catch (error) {
    log.error({ err: error }, "The alert's banner couldn't be rendered");
  }
  return null;
}
