/**
 * Shows the bar at the foot of the page once it is known that nobody is signed in, and folds it; whether it is folded is
 * remembered, and who has signed up is not asked again (spec section 2, "Sticky subscribe footer"). The form in it is an island, fetched when it is touched.
 */
import { publication } from '../publication.ts';
import { $condensedSubscribe, $gaveAddress } from '../stores/persisted.ts';
import { $session } from '../stores/session.ts';

const bar = document.querySelector<HTMLElement>('aside[data-subscribe-bar]');
const fold = bar?.querySelector<HTMLButtonElement>('[data-fold]');
const foldName = fold?.querySelector<HTMLElement>('[data-fold-name]');
const open = bar?.querySelector<HTMLElement>('#subscribe-bar-open');

if (bar && fold && foldName && open) {
  const { body } = document;
  // As the page began: thanks stay until the next one.
  const wanted = !$gaveAddress.get();
  let shown = false;

  const draw = () => {
    const folded = $condensedSubscribe.get();
    bar.dataset.shown = shown ? 'yes' : 'no';
    open.hidden = folded;
    fold.hidden = false;
    fold.setAttribute('aria-expanded', String(!folded));
    foldName.textContent = folded ? `Subscribe to ${publication.name}` : 'Hide';
    if (shown) body.dataset.subscribeBar = folded ? 'collapsed' : 'expanded';
    else delete body.dataset.subscribeBar;
  };

  fold.addEventListener('click', () => {
    const folded = fold.getAttribute('aria-expanded') === 'false';
    $condensedSubscribe.set(!folded);
  });
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--subscribe-bar', `${shown ? bar.offsetHeight : 0}px`);
  }).observe(bar);
  $condensedSubscribe.listen(draw);
  $session.subscribe(({ status }) => {
    shown = wanted && status === 'anonymous';
    draw();
  });
}
