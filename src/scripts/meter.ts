/**
 * Counts the reading of a metered article, and lays a wall over it when there is none left. The text stays where it is: for search
 * engines, for readers without scripts, and for whoever scrolls past.
 */
import { $meter, readMetered } from '../stores/meter.ts';
import { $ui } from '../stores/ui.ts';

const wall = document.querySelector<HTMLElement>('.meter-wall');

function lay({ ask }: { readonly ask: string }): void {
  if (!wall) return;
  wall.hidden = ask === 'nothing';
  for (const part of wall.querySelectorAll<HTMLElement>('[data-ask]')) part.hidden = part.dataset.ask !== ask;
}

if (wall) {
  $meter.subscribe(lay);
  const { meterWall: article, days, total } = wall.dataset;
  const rules = { days: Number(days), anonymous: Number(total) };
  const read = () => void readMetered(Number(article), location.pathname, rules);
  // A page that is made ready ahead is not read yet.
  if ('prerendering' in document && document.prerendering)
    document.addEventListener('prerenderingchange', read, { once: true });
  else read();
  // A sign-in in this page or another tab changes who is asked.
  new MutationObserver(() => {
    // Who is joining here stays where they are: the paywall opens the article itself.
    if ($ui.get().paywall.open) return;
    if (document.documentElement.dataset.visitor !== undefined && $meter.get().ask === 'registration')
      location.reload();
  }).observe(document.documentElement, { attributeFilter: ['data-visitor'] });
}
