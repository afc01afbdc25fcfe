/** Measures a share of all page views (the setting `VITALS_SHARE`), once the page is shown and idle. */
import { whenShown } from '../lib/when-shown.ts';

const measure = () => setTimeout(() => import('./vitals.ts').catch(() => {}), 1000);
if (Math.random() < Number(document.documentElement.dataset.vitals)) {
  whenShown(() => {
    if (document.readyState === 'complete') measure();
    else addEventListener('load', measure);
  });
}
