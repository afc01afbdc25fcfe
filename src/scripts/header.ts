/** Turns a compact header into the full one once the page has been scrolled (spec section 2, "Header"). */
import { publication } from '../publication.ts';

const header = document.querySelector<HTMLElement>('[data-starts="compact"]');
if (header) {
  const update = () => {
    header.dataset.header = window.scrollY > publication.layout.headerScrollThreshold ? 'full' : 'compact';
  };
  addEventListener('scroll', update, { passive: true });
  update();
}
