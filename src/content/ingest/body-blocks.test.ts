/** Blocks of WordPress 7.1, as its REST API gives them. */
import { JSDOM } from 'jsdom';
import { expect, it } from 'vitest';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { shapeBody } from './body.server.ts';

async function shaped(html: string): Promise<string> {
  const { html: body } = await shapeBody(sanitizer, html, {
    ...plainContext,
    base: 'https://cms.example/articles/one/',
  });
  return body;
}
/** Elements with their text, without attributes and white space. */
const outline = async (html: string): Promise<string> =>
  (await shaped(html)).replace(/<(\w+)[^>]*>/gu, '<$1>').replace(/>\s+</gu, '><');

const tab = (label: string): string => `<button id="tab__${label}" type="button" role="tab">${label}</button>`;
const panel = (inside: string): string =>
  `<section hidden role="tabpanel" tabindex="0" class="wp-block-tab-panel">${inside}</section>`;
const tabs = (labels: readonly string[], panels: readonly string[]): string =>
  `<div class="wp-block-tabs"><div role="tablist" class="wp-block-tab-list">${labels.map(tab).join('')}</div><div class="wp-block-tab-panels">${panels.map(panel).join('')}</div></div>`;

it('an accordion becomes headings and texts, without its buttons and icons', async () => {
  const item = (icon: string) =>
    `<div class="wp-block-accordion-item"><h3 class="wp-block-accordion-heading"><button aria-expanded="false" id="accordion-item-1" type="button" class="wp-block-accordion-heading__toggle"><span class="wp-block-accordion-heading__toggle-title">Who votes?</span>${icon}</button></h3><div hidden="until-found" id="accordion-item-1-panel" role="region" class="wp-block-accordion-panel"><p class="wp-block-paragraph">Everyone.</p></div></div>`;
  const icon = '<span class="wp-block-accordion-heading__toggle-icon" aria-hidden="true">+</span>';
  const html = await shaped(`<div class="wp-block-accordion">${item(icon)}</div>`);
  const { document } = new JSDOM(html).window;
  expect(document.querySelector('h2')?.textContent).toBe('Who votes?');
  expect(document.querySelector('button, [hidden]')).toBeNull();
  expect(document.body.textContent).toBe('Who votes?Everyone.');
});

it('each panel of tabs gets its label as a heading, also in tabs within tabs', async () => {
  expect(await outline(tabs(['North', 'South'], ['<p>Snow.</p>', '<p>Rain.</p>']))).toBe(
    '<div><div><section><h2>North</h2><p>Snow.</p></section><section><h2>South</h2><p>Rain.</p></section></div></div>',
  );
  const inner = tabs(['Day', 'Night'], ['<p>Sun.</p>', '<p>Stars.</p>']);
  expect(await outline(tabs(['North', 'South'], [inner, '<p>Rain.</p>']))).toBe(
    '<div><div><section><h2>North</h2><div><div><section><h2>Day</h2><p>Sun.</p></section><section><h2>Night</h2><p>Stars.</p></section></div></div></section><section><h2>South</h2><p>Rain.</p></section></div></div>',
  );
  // A label without a panel has nothing to head; a panel without a label loses none of its content.
  expect(await outline(tabs(['North', 'South'], ['<p>Snow.</p>']))).not.toContain('South');
  expect(await outline(tabs(['North'], ['<p>Snow.</p>', '<p>Rain.</p>']))).toContain('<section><p>Rain.</p></section>');
});

it('a list keeps its letters or Roman numerals as a class', async () => {
  const list = (attributes: string): Promise<string> => shaped(`<ol ${attributes}><li>x</li></ol>`);
  expect(await list('style="list-style-type:lower-alpha" class="wp-block-list"')).toBe(
    '<ol class="wp-block-list is-lower-alpha"><li>x</li></ol>',
  );
  expect(await list('style="color:red; list-style-type: upper-roman;" start="3"')).toContain('class="is-upper-roman"');
  // As the classic editor writes it.
  expect(await list('type="A"')).toContain('class="is-upper-alpha"');
  expect(await list('type="a"')).toContain('class="is-lower-alpha"');
  for (const other of ['style="list-style-type:decimal"', 'style="list-style-type:url(x)"', 'type="1"', ''])
    expect(await list(other)).not.toContain('class');
});

it('a button is removed from a body, but its content stays', async () => {
  const html = await shaped(
    '<p>a <button name="x" value="y" onclick="x()">b <b>c</b></button></p><button><p>d</p></button><button type="submit"></button>',
  );
  expect(html).toBe('<p>a b <b>c</b></p><p>d</p>');
});

it('characters that HTML and XML forbid are removed, and a vertical tab becomes a space', async () => {
  expect(await shaped('<p>a\u0007\u001f\u0085\ufffe\ufdd0b one\u000btwo</p>')).toBe('<p>ab one two</p>');
  expect(await shaped('<p><a href="java\u0080script:alert(1)">x</a></p>')).not.toContain('script:');
});
