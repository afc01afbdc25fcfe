/**
 * Formulas (MathML). The sanitizer lets MathML Core through, and older elements that browsers no longer lay out, which are replaced
 * here. A formula keeps only MathML and text: attacks in which markup changes when it is parsed again (mXSS) need HTML within a
 * formula.
 */
import { cleanLine, fenceAttributes, mathNamespace } from './sanitize.server.ts';

const tokens = 'mi, mn, mo, ms, mtext';

/** An element that isn't in MathML Core, and its replacement. */
const outdated: Readonly<Record<string, (element: Element) => Element>> = {
  // Browsers show only the first child.
  maction: (element) => element.firstElementChild ?? renamed(element, 'mrow'),
  menclose: (element) => renamed(element, 'mrow'),
  mfenced: (element) => withFences(element),
  mlabeledtr: (element) => {
    element.firstElementChild?.remove();
    return renamed(element, 'mtr');
  },
};

/** Reduces each formula to the elements of MathML Core, with text alone in those that hold text. */
export function normalizeFormulas(body: HTMLElement): void {
  for (const token of body.querySelectorAll(`math :is(${tokens})`))
    token.textContent = cleanLine(token.textContent ?? '');
  for (const element of [...body.querySelectorAll('math *')].reverse()) {
    const replace = outdated[element.localName];
    if (element.namespaceURI !== mathNamespace) element.remove();
    else if (replace) element.replaceWith(replace(element));
  }
}

const create = (element: Element, name: string): Element => element.ownerDocument.createElementNS(mathNamespace, name);

function renamed(element: Element, name: string): Element {
  const replacement = create(element, name);
  replacement.append(...element.childNodes);
  return replacement;
}

/** Replaces `mfenced` by an `mrow`: its parts between brackets, with separators between them. */
function withFences(element: Element): Element {
  const [open, close, separators] = fenceAttributes.map((name) => element.getAttribute(name));
  const operator = (text: string) => {
    const mo = create(element, 'mo');
    mo.textContent = cleanLine(text);
    return mo;
  };
  const between = [...(separators ?? ',').replace(/\s/gu, '')];
  const row = create(element, 'mrow');
  row.append(operator(open ?? '('));
  for (const [at, part] of [...element.children].entries()) {
    const separator = between[Math.min(at, between.length) - 1];
    if (at > 0 && separator !== undefined) row.append(operator(separator));
    row.append(part);
  }
  row.append(operator(close ?? ')'));
  return row;
}
