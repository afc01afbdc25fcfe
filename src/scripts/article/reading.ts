/** What goes on while somebody reads; fetched at the first scroll. */
const worker = document.querySelector('[data-tools][data-worker]');

/** Milliseconds of reading before anything is fetched for it: whoever only looks in pays for none of it. */
const aMoment = 2000;

setTimeout(() => {
  if (worker && 'serviceWorker' in navigator && import.meta.env.PROD) {
    void import('./offline.ts').then(({ keepStories }) => keepStories()).catch(() => {});
  }
  if (document.documentElement.dataset.visitor && document.querySelector('[data-tool="save"]')) {
    void import('./history.ts').catch(() => {});
  }
}, aMoment);
