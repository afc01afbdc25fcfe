/**
 * The market ticker (spec section 2, "Market ticker"). The server renders the prices, and styles rotate them every five seconds. At a
 * touch, or after a minute in view, the island continues from the same place and loads newer prices every minute. Nothing is announced
 * to assistive technology: the strip is a plain list.
 */
import { useStore } from '@nanostores/react';
import { map, type ReadableAtom } from 'nanostores';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { asOfText, staleSince, type TickerItem, tickerRows } from '../../lib/ticker/model.ts';
import { publication } from '../../publication.ts';
import styles from './Ticker.module.css';

interface Props {
  /** The prices of the page; a symbol may have none yet. */
  items: readonly TickerItem[];
}

const refreshMs = 60_000;

export default function Ticker({ items }: Props) {
  const [prices] = useState(() => createPrices(items));
  const { shown, live } = useStore(prices.$prices);
  const [running, setRunning] = useState(false);
  const [paused, setPaused] = useState(false);
  const section = useRef<HTMLElement>(null);
  const strip = useRef<HTMLDivElement>(null);

  // A layout effect, so that the change from styles to script moves nothing.
  useLayoutEffect(() => {
    takeOver(strip.current);
    setRunning(true);
  }, []);
  const forward = useCallback(() => strip.current && scrollOn(strip.current), []);
  useRotation(section, forward, paused);
  useRefresh(section, prices.refresh);

  const since = live ? staleSince(shown) : oldest(shown);
  return (
    <section
      ref={section}
      className={`${styles.ticker} wrap`}
      aria-label="Markets"
      data-ticker=""
      data-running={running ? '' : undefined}
    >
      <p className={`label ${styles.name}`} aria-hidden="true">
        Markets
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a strip that scrolls must be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: it isn't part of a form. */}
      <div className={styles.strip} ref={strip} tabIndex={0} role="group" aria-label="Prices">
        <ul>
          {tickerRows(publication.ticker.symbols, shown).map(
            ({ symbol, name, price, direction, sign, spoken, change }) => (
              <li key={symbol} data-direction={direction}>
                <span className={styles.what}>{name}</span> <span className={styles.price}>{price}</span>{' '}
                <span className={styles.change}>
                  <span className={styles.sign} aria-hidden="true">
                    {sign}
                  </span>{' '}
                  <span className="visually-hidden">{spoken}</span> <span>{change}</span>
                </span>
              </li>
            ),
          )}
        </ul>
      </div>
      <p className={styles.asOf}>{since === null ? '' : asOfText(since)}</p>
      <div className={styles.keys}>
        <button
          type="button"
          className={styles.pause}
          aria-pressed={paused}
          aria-label="Pause the ticker"
          onClick={() => setPaused(!paused)}
        >
          <span aria-hidden="true" />
        </button>
        <button type="button" aria-label="Next prices" onClick={forward}>
          <span aria-hidden="true">›</span>
        </button>
      </div>
    </section>
  );
}

const oldest = (items: readonly TickerItem[]): string | null => items.map(({ asOf }) => asOf).sort()[0] ?? null;

/** Scrolls the strip to the position of the CSS animation, which `data-running` ends. */
function takeOver(strip: HTMLElement | null): void {
  const list = strip?.querySelector('ul');
  if (!strip || !list) return;
  const moved = new DOMMatrix(getComputedStyle(list).transform).m41;
  list.style.animation = 'none';
  strip.scrollLeft = -moved;
}

/** Scrolls to the next price, from the end to the first. */
function scrollOn(strip: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = strip;
  const next = [...strip.querySelectorAll('li')].find(({ offsetLeft }) => offsetLeft > scrollLeft + 2);
  const atEnd = scrollLeft > scrollWidth - clientWidth - 2;
  strip.scrollTo({ left: atEnd ? 0 : (next?.offsetLeft ?? 0), behavior: wantsStillness() ? 'auto' : 'smooth' });
}

const wantsStillness = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Rotates the strip, except under the pointer, with the focus inside, while paused, and for readers who prefer no motion. */
function useRotation(section: RefObject<HTMLElement | null>, forward: () => void, paused: boolean): void {
  useEffect(() => {
    if (paused) return;
    const timer = setInterval(() => {
      const held = section.current?.matches(':hover') || section.current?.contains(document.activeElement);
      if (!held && !wantsStillness() && document.visibilityState === 'visible') forward();
    }, publication.ticker.rotation);
    return () => clearInterval(timer);
  }, [section, forward, paused]);
}

/** Asks for newer prices at once and each minute while the ticker is in view. */
function useRefresh(section: RefObject<HTMLElement | null>, refresh: () => Promise<void>): void {
  useEffect(() => {
    let inView = true;
    let askedAt = Number.NEGATIVE_INFINITY;
    const renew = () => {
      if (!inView || document.visibilityState !== 'visible' || performance.now() - askedAt < refreshMs) return;
      askedAt = performance.now();
      void refresh();
    };
    const view = new IntersectionObserver(([entry]) => {
      inView = entry?.isIntersecting ?? true;
      renew();
    });
    if (section.current) view.observe(section.current);
    document.addEventListener('visibilitychange', renew);
    const timer = setInterval(renew, refreshMs / 4);
    return () => {
      view.disconnect();
      document.removeEventListener('visibilitychange', renew);
      clearInterval(timer);
    };
  }, [section, refresh]);
}

interface Prices {
  readonly $prices: ReadableAtom<{
    readonly shown: readonly TickerItem[];
    /** Whether prices were requested. */
    readonly live: boolean;
  }>;
  /** Loads the newest prices. Prices that are missing in the response stay, marked as stale. */
  refresh(): Promise<void>;
}

async function askPrices(): Promise<readonly TickerItem[]> {
  try {
    const response = await fetch('/api/v1/stocks/quote');
    return response.ok ? ((await response.json()) as TickerItem[]) : [];
  } catch {
    return [];
  }
}

/** @param first prices of the page */
function createPrices(first: readonly TickerItem[]): Prices {
  const $prices = map({ shown: first, live: false });
  return {
    $prices,
    async refresh() {
      const fresh = await askPrices();
      const known = new Set(fresh.map(({ symbol }) => symbol));
      const left = $prices.get().shown.filter(({ symbol }) => !known.has(symbol));
      $prices.set({ shown: [...fresh, ...left.map((item) => ({ ...item, stale: true }))], live: true });
    },
  };
}
