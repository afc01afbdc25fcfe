/** A strip of tabs that is wider than the window: brings the current one into view, and says on which sides there is more. */
const strip = document.querySelector<HTMLElement>('[data-tab-strip]');
const list = strip?.querySelector('ul');

if (strip && list) {
  const mark = () => {
    const end = list.scrollWidth - list.clientWidth;
    strip.toggleAttribute('data-before', list.scrollLeft > 1);
    strip.toggleAttribute('data-after', list.scrollLeft < end - 1);
  };
  const current = list.querySelector<HTMLElement>('[aria-current]');
  if (current) {
    const [strips, tabs] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
    // In the middle, so that its neighbors are seen, too.
    list.scrollLeft += tabs.left + tabs.width / 2 - (strips.left + strips.width / 2);
  }
  mark();
  list.addEventListener('scroll', mark, { passive: true });
  new ResizeObserver(mark).observe(list);
}
