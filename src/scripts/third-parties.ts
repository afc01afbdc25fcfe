/**
 * Third parties on a page that has some: checks what the reader has allowed. Their code is fetched when the page is loaded and the
 * browser idle, and only if something is allowed; an answer to the privacy banner counts at once. Nothing starts on a page that is only
 * prerendered.
 */
import { whenShown } from '../lib/when-shown.ts';

/** Calls back when the page is loaded and shown, and the browser idle. */
function whenIdle(action: () => void): void {
  const wait = () => {
    // Safari has no idle callback.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(action, { timeout: 1500 });
    else setTimeout(action, 200);
  };
  whenShown(() => {
    if (document.readyState === 'complete') wait();
    else addEventListener('load', wait, { once: true });
  });
}

const { dataset } = document.documentElement;
let started = false;

function start(): void {
  if (started) return;
  started = true;
  import('./third-parties-page.ts')
    .then((page) => page.start(whenIdle))
    .catch(() => {
      started = false;
    });
}

/** Whether the reader has chosen, here or in another tab. The name is a copy of `consentCookieName` in lib/consent/model.ts. */
const chosen = () => document.cookie.includes('privacy-choices=');

// A certified consent platform asks instead of our banner, on every page: it also shows readers how to change their choice.
const platform = document.querySelector<HTMLElement>('[data-platform-script]')?.dataset.platformScript;
if (platform) {
  whenIdle(() => {
    import('./consent-platform.ts').then(
      ({ followPlatform }) => followPlatform(platform).then(start),
      () => {},
    );
  });
}

// `data-consent` lists what is allowed; pages with limited ads don't wait for it. A choice that was just saved by its form is sent to
// the other tabs, and what it denies is removed. A prerendered page learns what is allowed when it is shown.
whenShown(() => {
  if (/[?&]saved\b/.test(location.search)) start();
  else if (dataset.consent || document.querySelector('[data-third-parties]')) whenIdle(start);
});

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && dataset.consent === undefined && chosen()) start();
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.dataset.privacy === undefined) return;
  event.preventDefault();
  import('./third-parties-page.ts')
    .then(({ applyChoice }) => {
      applyChoice(form, submitter);
      start();
    })
    // If the code can't be loaded, the form is posted.
    .catch(() => {
      delete form.dataset.privacy;
      form.requestSubmit(submitter);
    });
});
