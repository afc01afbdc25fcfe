/**
 * Loads and opens the paywall: for a link with `data-paywall='{"planId": …}'`, for the address of a mailed link (`#join=…`), and for an
 * island that calls `openPaywall`. No page includes its code; if it can't be loaded, the link works as a link.
 */
import { $ui, closePaywall, openPaywall } from '../stores/ui.ts';

type Payload = import('../stores/ui.ts').PaywallPayload;

const host = document.querySelector<HTMLElement>('[data-paywall-host]');
/** Address of the last link that was clicked. */
let fallback = '/pricing';
let isLoading = false;

/** What a link opens; `null` if its data is not a payload. */
function payloadOf(link: HTMLElement): Payload | null {
  try {
    const read: unknown = JSON.parse(link.dataset.paywall ?? '');
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Payload) : null;
  } catch {
    return null;
  }
}

async function fetchPaywall(place: HTMLElement): Promise<void> {
  try {
    const { mount } = await import('../islands/PaywallModal/PaywallModal.island.tsx');
    mount(place);
  } catch {
    isLoading = false;
    closePaywall();
    location.assign(fallback);
  }
}

if (host) {
  document.addEventListener('click', (event) => {
    // Clicks for a new tab, and those that were handled already, are left alone.
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest<HTMLElement>('a[data-paywall], button[data-paywall]');
    const payload = link && payloadOf(link);
    if (!payload) return;
    event.preventDefault();
    fallback = link.getAttribute('href') ?? '/pricing';
    openPaywall(payload);
  });
  $ui.subscribe(({ paywall }) => {
    if (isLoading || !paywall.open) return;
    isLoading = true;
    void fetchPaywall(host);
  });
  const join = /^#join=([\w.-]+)$/.exec(location.hash)?.[1];
  if (join) {
    history.replaceState(history.state, '', location.pathname + location.search);
    openPaywall({ planId: join });
  }
}
