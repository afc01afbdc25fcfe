/** Measures a share of the views of pages, once the page is idle. The share is the setting `VITALS_SHARE`. */
if (Math.random() < Number(document.documentElement.dataset.vitals))
  addEventListener('load', () => setTimeout(() => import('./vitals.ts'), 1000));
