/**
 * Opens the paywall: by any link with `data-paywall='{"planId": …}'`, by the address of a mailed link (`#join=…`), and by whatever
 * island calls `openPaywall`. No page carries its code; where it cannot be fetched, the link leads to where it always did.
 */
import { $ui, closePaywall, openPaywall } from '../stores/ui.ts';

type Payload = import('../stores/ui.ts').PaywallPayload;

const host = document.querySelector<HTMLElement>('[data-paywall-host]');
/** Where the last link would have gone. */
let otherwise = '/pricing';
let asked = false;

/** What a link is to open; `null` where it is none of ours. */
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
    asked = false;
    closePaywall();
    location.assign(otherwise);
  }
}

if (host) {
  document.addEventListener('click', (event) => {
    // A click for a new tab, and one that something else has answered, are left alone.
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
    otherwise = link.getAttribute('href') ?? '/pricing';
    openPaywall(payload);
  });
  $ui.subscribe(({ paywall }) => {
    if (asked || !paywall.open) return;
    asked = true;
    void fetchPaywall(host);
  });
  const join = /^#join=([\w.-]+)$/.exec(location.hash)?.[1];
  if (join) {
    history.replaceState(history.state, '', location.pathname + location.search);
    openPaywall({ planId: join });
  }
}
