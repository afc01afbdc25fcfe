/** Blocks that need WordPress's scripts: pages show all of their text, under headings. */
import { create, unwrap } from './body-media.server.ts';
import { cleanLine } from './sanitize.server.ts';

/** Unfolds accordions and tabs, and replaces every button by its text. */
export function unfoldBlocks(body: HTMLElement): void {
  for (const icon of body.querySelectorAll('.wp-block-accordion-heading__toggle-icon')) icon.remove();
  for (const tabs of body.querySelectorAll('.wp-block-tabs')) labelPanels(tabs);
  for (const button of [...body.querySelectorAll('button')].reverse()) unwrap(button);
}

/** Puts the label of each tab above its panel. Tabs within a panel have labels of their own. */
function labelPanels(tabs: Element): void {
  const own = (selector: string): Element[] =>
    [...tabs.querySelectorAll(selector)].filter((element) => element.parentElement?.closest('.wp-block-tabs') === tabs);
  const [list] = own('.wp-block-tab-list');
  const labels = [...(list?.querySelectorAll('button') ?? [])].map((button) => cleanLine(button.textContent ?? ''));
  for (const [at, panel] of own('.wp-block-tab-panel').entries()) {
    const label = labels[at] ?? '';
    if (label === '') continue;
    panel.prepend(create(tabs.ownerDocument, 'h3', {}, label));
  }
  list?.remove();
}

const numberings: Readonly<Record<string, string>> = {
  a: 'lower-alpha',
  A: 'upper-alpha',
  i: 'lower-roman',
  I: 'upper-roman',
};

/** Class of a list that is numbered with letters or Roman numerals (src/styles/prose.css); `null` for any other element. */
export function numberingOf(element: Element): string | null {
  if (element.localName !== 'ol') return null;
  const style = /(?:^|;)\s*list-style-type\s*:\s*((?:lower|upper)-(?:alpha|roman))\s*(?:;|$)/iu.exec(
    element.getAttribute('style') ?? '',
  )?.[1];
  const numbering = style?.toLowerCase() ?? numberings[element.getAttribute('type') ?? ''];
  return numbering === undefined ? null : `is-${numbering}`;
}
