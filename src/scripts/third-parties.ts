/**
 * Third parties on a page that has some: nothing but a look at what its reader has allowed. What they need is fetched when the page is
 * loaded and the browser idle, and only where something is allowed; the banner's answer is dealt with when it is given.
 */
import { whenQuiet } from './when-quiet.ts';

const { dataset } = document.documentElement;
let started = false;

function start(): void {
  if (started) return;
  started = true;
  import('./third-parties-page.ts').catch(() => {
    started = false;
  });
}

/** The reader has chosen, here or in another tab. */
const chosen = () => document.cookie.includes('privacy-choices=');

// A certified consent platform asks in our place, on every page: it also shows readers the way back to their choice.
const platform = document.querySelector<HTMLElement>('[data-platform-script]')?.dataset.platformScript;
if (platform) {
  whenQuiet(() => {
    import('./consent-platform.ts').then(
      ({ followPlatform }) => followPlatform(platform).then(start),
      () => {},
    );
  });
}

// `data-consent` is what is allowed; pages on which limited ads stand do not wait for it.
// A choice that was just saved by its form is told to the other tabs, and what it denies is taken away.
if (/[?&]saved\b/.test(location.search)) start();
else if (dataset.consent || document.querySelector('[data-third-parties]')) whenQuiet(start);

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && dataset.consent === undefined && chosen()) start();
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.dataset.privacy === undefined) return;
  event.preventDefault();
  import('./privacy-form.ts')
    .then(({ answer }) => {
      answer(form, submitter);
      start();
    })
    // The form works by itself.
    .catch(() => {
      delete form.dataset.privacy;
      form.requestSubmit(submitter);
    });
});
