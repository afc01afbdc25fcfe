/**
 * The market ticker in the browser: brings the newest prices when the page has come to rest and once a minute while somebody may see
 * them, and moves on every five seconds (spec section 9) unless the reader points at it, is in it, has paused it, looks
 * elsewhere, or wants nothing to move. Nothing is announced: the strip is a plain list, to be read when somebody likes to.
 */
import { asOfText, faceOf, staleSince } from '../lib/ticker/rows.ts';
import type { TickerItem } from '../lib/ticker/wire.ts';

const refreshMs = 60_000;
const still = matchMedia('(prefers-reduced-motion: reduce)');

function show(ticker: HTMLElement, items: readonly TickerItem[]): void {
  for (const item of items) {
    const row = ticker.querySelector<HTMLElement>(`[data-symbol="${CSS.escape(item.symbol)}"]`);
    if (!row) continue;
    const face = faceOf(item);
    row.dataset.direction = face.direction;
    for (const part of row.querySelectorAll<HTMLElement>('[data-part]')) {
      const text = face[part.dataset.part as 'price' | 'sign' | 'spoken' | 'change'];
      if (part.textContent !== text) part.textContent = text;
    }
  }
  const place = ticker.querySelector<HTMLElement>('[data-as-of]');
  if (!place) return;
  // A price that nothing came for is as old as the oldest that stood there.
  const known = new Set(items.map(({ symbol }) => symbol));
  const left = [...ticker.querySelectorAll<HTMLElement>('[data-symbol]')].some(
    (row) => !known.has(row.dataset.symbol ?? '') && row.querySelector('[data-part="price"]')?.textContent,
  );
  const [since] = [staleSince(items), left && place.dataset.asOf].filter((time) => typeof time === 'string').sort();
  if (!left) place.dataset.asOf = items.map(({ asOf }) => asOf).sort()[0] ?? '';
  place.textContent = since ? asOfText(since) : '';
}

/** Brings the newest prices. What stands there stays when none come, and says how old it is. */
async function refresh(ticker: HTMLElement): Promise<void> {
  const items = await fetch('/api/v1/stocks/quote')
    .then(async (response) => (response.ok ? ((await response.json()) as TickerItem[]) : []))
    .catch(() => []);
  show(ticker, items);
}

function start(ticker: HTMLElement): void {
  const strip = ticker.querySelector<HTMLElement>('.strip');
  const keys = ticker.querySelector<HTMLElement>('.keys');
  const pause = ticker.querySelector('[data-ticker-pause]');
  if (!strip || !keys || !pause) return;
  let paused = false;
  let seen = true;

  const forward = () => {
    const { scrollLeft, scrollWidth, clientWidth } = strip;
    const next = [...strip.querySelectorAll('li')].find(({ offsetLeft }) => offsetLeft > scrollLeft + 2);
    const atEnd = scrollLeft > scrollWidth - clientWidth - 2;
    strip.scrollTo({ left: atEnd ? 0 : (next?.offsetLeft ?? 0), behavior: still.matches ? 'auto' : 'smooth' });
  };
  const visible = () => seen && document.visibilityState === 'visible';

  pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
  });
  ticker.querySelector('[data-ticker-next]')?.addEventListener('click', forward);
  keys.hidden = false;

  setInterval(() => {
    const held = paused || still.matches || ticker.matches(':hover') || ticker.contains(document.activeElement);
    if (!held && visible()) forward();
  }, Number(ticker.dataset.ticker));

  let freshAt = Number.NEGATIVE_INFINITY;
  const renew = () => {
    if (!visible() || performance.now() - freshAt < refreshMs) return;
    freshAt = performance.now();
    void refresh(ticker);
  };
  new IntersectionObserver(([entry]) => {
    seen = entry?.isIntersecting ?? true;
    renew();
  }).observe(ticker);
  document.addEventListener('visibilitychange', renew);
  setInterval(renew, refreshMs / 4);
}

const ticker = document.querySelector<HTMLElement>('[data-ticker]');
if (ticker) {
  // There is no idle callback in Safari.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(() => start(ticker));
  else setTimeout(() => start(ticker), 200);
}
