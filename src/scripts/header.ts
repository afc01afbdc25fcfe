/** Turns a compact header into the full one once the page has been scrolled (spec section 2, "Header"). */
const header = document.querySelector<HTMLElement>('[data-starts="compact"]');
if (header) {
  const threshold = Number(header.dataset.threshold);
  const update = () => {
    header.dataset.header = window.scrollY > threshold ? 'full' : 'compact';
  };
  addEventListener('scroll', update, { passive: true });
  update();
}
