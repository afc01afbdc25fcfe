/** What goes on while somebody reads; fetched at the first scroll. */
const worker = document.querySelector('[data-tools][data-worker]');

/** There is no idle callback in Safari. */
const whenIdle = (action: () => void): void => {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(action);
  else setTimeout(action, 200);
};

if (worker && 'serviceWorker' in navigator && import.meta.env.PROD) {
  whenIdle(() => void import('./offline.ts').then(({ keepStories }) => keepStories()).catch(() => {}));
}
if (document.documentElement.dataset.visitor && document.querySelector('[data-tool="save"]')) {
  whenIdle(() => void import('./shelf.ts').catch(() => {}));
}
