/**
 * Fetches the popups to sign in by when the first one is opened: no page carries their code. Where they cannot be fetched, the
 * page to sign in takes their place.
 */
import { $ui, closeAuthPopup, setWelcomePopup } from '../stores/ui.ts';

type Provider = import('../lib/accounts/service.ts').Provider;

const host = document.querySelector<HTMLElement>('[data-popups]');
let asked = false;

async function fetchPopups(place: HTMLElement): Promise<void> {
  try {
    const { mount } = await import('../islands/HeaderAuth/AuthPopup.island.tsx');
    mount(place, (place.dataset.popups ?? '').split(' ').filter(Boolean) as Provider[]);
  } catch {
    asked = false;
    const wanted = $ui.get().authPopup !== null;
    closeAuthPopup();
    setWelcomePopup(false);
    if (wanted) location.assign(`/socialLogin?return=${encodeURIComponent(location.pathname + location.search)}`);
  }
}

if (host) {
  $ui.subscribe(({ authPopup, welcomePopup }) => {
    if (asked || (authPopup === null && !welcomePopup)) return;
    asked = true;
    void fetchPopups(host);
  });
}
