/**
 * Calendly (docs/services/calendly.md): links marked `data-schedule` open the booking page in a popup of at most 1000 x 680 px (spec
 * section 9). The first press loads the script; if it doesn't load, and without consent, they are plain links.
 */
import { isPlainClick } from '../plain-click.ts';
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext } from './model.ts';
import { track } from './tracker.ts';

declare global {
  interface Window {
    /** developer.calendly.com, "Embed options overview": all options except `url` are optional. */
    Calendly?: { initPopupWidget(options: { readonly url: string }): void };
  }
}

/** Longest wait after a press, in milliseconds. */
const timeoutMs = 4000;

const style = '.calendly-overlay .calendly-popup{width:90%;min-width:0;max-width:1000px;height:90%;max-height:680px}';

export function makeScheduling({ settings }: AdapterContext<'scheduling'>): Adapter {
  const { scriptUrl } = settings;
  let listening = false;

  async function open(link: HTMLAnchorElement): Promise<void> {
    const loaded = await loadScriptOnce(scriptUrl, { timeout: timeoutMs });
    if (loaded.ok && window.Calendly) {
      addStyles(scriptUrl);
      window.Calendly.initPopupWidget({ url: link.href });
      track('schedule_open');
    } else location.assign(link.href);
  }

  const press = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-schedule]') : null;
    if (!(link instanceof HTMLAnchorElement) || !isPlainClick(event)) return;
    event.preventDefault();
    void open(link);
  };

  return {
    allow() {
      if (!listening) document.addEventListener('click', press);
      listening = true;
    },
    withdraw() {
      document.removeEventListener('click', press);
      listening = false;
    },
  };
}

/** The vendor's style sheet is next to its script; ours comes after it and limits the popup. */
function addStyles(scriptUrl: string): void {
  if (document.querySelector('link[data-schedule-style]')) return;
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.dataset.scheduleStyle = '';
  sheet.href = scriptUrl.replace(/\.js$/, '.css');
  const own = document.createElement('style');
  own.textContent = style;
  document.head.append(sheet, own);
}
