/** Measures a share of the views of pages, once the page is shown and idle. The share is the setting `VITALS_SHARE`. */
import { whenShown } from '../lib/when-shown.ts';

const measure = () => setTimeout(() => import('./vitals.ts'), 1000);
if (Math.random() < Number(document.documentElement.dataset.vitals)) {
  whenShown(() => {
    if (document.readyState === 'complete') measure();
    else addEventListener('load', measure);
  });
}
