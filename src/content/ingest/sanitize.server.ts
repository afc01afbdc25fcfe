/**
 * The sanitizer: markup from WordPress goes through DOMPurify over a real DOM, once, at ingest. The DOM must be jsdom: on others
 * DOMPurify returns the input unchanged and without an error, so creating the sanitizer tests it with an attack.
 */
import createDOMPurify, { type Config, type DOMPurify } from 'dompurify';
import { type DOMWindow, JSDOM } from 'jsdom';
import { truncateAtWord } from '../../lib/text.ts';

const bodyTags = [
  // The parser's own root; if it weren't listed, DOMPurify would move the whole tree out of it.
  'body',
  'p',
  'br',
  'hr',
  'wbr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'div',
  'section',
  'aside',
  'blockquote',
  'pre',
  'ul',
  'ol',
  'li',
  'dl',
  'dt',
  'dd',
  'figure',
  'figcaption',
  'details',
  'summary',
  'table',
  'caption',
  'colgroup',
  'col',
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'th',
  'td',
  'a',
  'em',
  'strong',
  'b',
  'i',
  'u',
  's',
  'del',
  'ins',
  'mark',
  'small',
  'sub',
  'sup',
  'span',
  'cite',
  'q',
  'code',
  'kbd',
  'samp',
  'var',
  'abbr',
  'dfn',
  'time',
  'bdi',
  'bdo',
  'ruby',
  'rt',
  'rp',
  'img',
];

const mediaTags = ['video', 'audio', 'source', 'track'];

const bodyAttributes = [
  'href',
  'src',
  'alt',
  'title',
  'width',
  'height',
  'id',
  'name',
  'class',
  'style',
  'cite',
  'datetime',
  'lang',
  'dir',
  'controls',
  'poster',
  'preload',
  'loop',
  'kind',
  'srclang',
  'label',
  'default',
  'colspan',
  'rowspan',
  'scope',
  'span',
  'start',
  'reversed',
  'type',
  'value',
  'open',
  'aria-label',
  'srcset',
];

/**
 * MathML Core, without elements and attributes that link or contain other markup: no `annotation`, no `annotation-xml`, no `href`,
 * no colors.
 */
const mathTags = (
  'math merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub ' +
  'msubsup msup mtable mtd mtext mtr munder munderover none semantics'
).split(' ');

const mathAttributes = (
  'accent accentunder alttext columnspan depth dir display displaystyle fence form height largeop linethickness lspace ' +
  'mathvariant maxsize minsize movablelimits rowspan rspace scriptlevel separator stretchy symmetric voffset width'
).split(' ');

/** Older MathML elements, which `normalizeFormulas` replaces, with the attributes of `mfenced`. */
const outdatedMathTags = ['maction', 'menclose', 'mfenced', 'mlabeledtr'];
export const fenceAttributes = ['open', 'close', 'separators'];

export const mathNamespace = 'http://www.w3.org/1998/Math/MathML';
/** DOMPurify has one list of attributes for all elements. These are allowed on elements of formulas only. */
const formulaAttributes = new Set([...mathAttributes, ...fenceAttributes]);
const isAllowedOn = (element: Element, attribute: string): boolean =>
  element.namespaceURI === mathNamespace
    ? formulaAttributes.has(attribute)
    : !formulaAttributes.has(attribute) || bodyAttributes.includes(attribute);

/** Attributes that only our own transforms write; the first pass removes them from WordPress's markup. */
const ownAttributes = [
  'data-embed-src',
  'data-embed-provider',
  'data-embed-title',
  'data-wordpress',
  'loading',
  'decoding',
  'sizes',
  'rel',
  'role',
  'tabindex',
];

const sharedConfig: Config = {
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
  ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
  // Their text is code or a fallback, which doesn't belong in an article.
  FORBID_CONTENTS: [
    'script',
    'style',
    'noscript',
    'template',
    'svg',
    'math',
    'title',
    'textarea',
    'select',
    'xmp',
    'noembed',
    'noframes',
    'plaintext',
    'object',
    'applet',
  ],
};

const withFormulas: Config = {
  ...sharedConfig,
  ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml', mathNamespace],
  FORBID_CONTENTS: [
    ...(sharedConfig.FORBID_CONTENTS ?? []).filter((name) => name !== 'math'),
    'annotation',
    'annotation-xml',
    'mglyph',
  ],
};

// The transforms prefix ids and names, which makes them harmless and keeps footnotes working; DOMPurify's own protection against
// clobbering would drop ids such as "title" or "links".
const firstPass: Config = {
  ...withFormulas,
  // The transforms replace frames, buttons and outdated elements of formulas.
  ALLOWED_TAGS: [...bodyTags, 'iframe', 'button', ...mediaTags, ...mathTags, ...outdatedMathTags],
  ALLOWED_ATTR: [...bodyAttributes, ...mathAttributes, ...fenceAttributes],
  SANITIZE_DOM: false,
  RETURN_DOM: true,
};
const secondPass: Config = {
  ...withFormulas,
  ALLOWED_TAGS: [...bodyTags, ...mediaTags, ...mathTags],
  // At this point formulas contain no HTML.
  MATHML_TEXT_INTEGRATION_POINTS: {},
  ALLOWED_ATTR: [
    ...bodyAttributes.filter((name) => !['name', 'style'].includes(name)),
    ...ownAttributes,
    ...mathAttributes,
  ],
};
const commentConfig: Config = {
  ...sharedConfig,
  // The transforms replace emoji and remove other pictures, and with them these attributes.
  ALLOWED_TAGS: ['body', 'p', 'br', 'a', 'em', 'strong', 'blockquote', 'code', 'img'],
  ALLOWED_ATTR: ['href', 'class', 'alt'],
  RETURN_DOM: true,
};

const noteConfig: Config = {
  ...sharedConfig,
  ALLOWED_TAGS: ['body', 'a', 'em', 'strong'],
  ALLOWED_ATTR: ['href'],
  RETURN_DOM: true,
};

export interface Sanitizer {
  readonly window: DOMWindow;
  /** First pass over a body. @returns a detached element to transform, and whether the sanitizer removed something */
  parseBody(html: string): { body: HTMLElement; altered: boolean };
  /** Second pass, over the output of the transforms. */
  finish(html: string, altered: boolean): string;
  parseComment(html: string): HTMLElement;
  /** A correction's text: links, emphasis and nothing else. */
  parseNote(html: string): HTMLElement;
  /** One line of text without markup, entities decoded. @param longest characters; a longer text is cut between words */
  line(html: string, longest?: number): string;
  /** The same, with the line breaks of the markup. */
  lines(html: string): string;
}

/** Elements whose content isn't text for readers. */
const notText =
  'script, style, noscript, template, iframe, object, svg, math, title, textarea, select, xmp, noembed, noframes, plaintext';
const blockNames =
  /^(?:P|DIV|BR|LI|UL|OL|DL|DT|DD|H[1-6]|BLOCKQUOTE|PRE|TABLE|TR|TD|TH|FIGURE|FIGCAPTION|SECTION|ASIDE|HR|DETAILS|SUMMARY|CAPTION)$/u;

/** Text of an element with a line break at every block, so that words of two blocks don't run together. */
export function textOf(node: Node): string {
  let out = '';
  const walk = (parent: Node): void => {
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) out += child.nodeValue ?? '';
      else if (child.nodeType === 1) {
        const isBlock = blockNames.test(child.nodeName);
        if (isBlock) out += '\n';
        walk(child);
        if (isBlock) out += '\n';
      }
    }
  };
  walk(node);
  return out;
}

/** @throws Error unless an attack is removed */
function testWithAttack(purify: DOMPurify): void {
  const attack =
    '<p>kept</p><img src=x onerror=alert(1)><script>alert(1)</script><a href="javascript:alert(1)">a</a><math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></math><svg><style><img src=x onerror=alert(1)>';
  const result = purify.isSupported ? String(purify.sanitize(attack, { ...secondPass, RETURN_DOM: false })) : '';
  if (!result.includes('<p>kept</p>') || /onerror|script|svg|style/iu.test(result)) {
    throw new Error('The sanitizer does not work with this DOM: nothing is ingested. Reinstall the packages (npm ci).');
  }
}

/** Creates the sanitizer: one window for all documents. @throws Error when DOMPurify doesn't work here */
export function createSanitizer(): Sanitizer {
  const { window } = new JSDOM('');
  const purify = createDOMPurify(window as unknown as Parameters<typeof createDOMPurify>[0]);
  purify.addHook('uponSanitizeAttribute', (element, attribute) => {
    if (!isAllowedOn(element, attribute.attrName)) attribute.keepAttr = false;
  });
  testWithAttack(purify);
  /**
   * Adopts an element into the one document that stays: jsdom caches parsed selectors per document, and each piece of markup is parsed
   * into a new one. Parsing them again took a third of an article's time.
   */
  const adopt = <E extends Element>(element: E): E => window.document.adoptNode(element);
  const textWithoutMarkup = (html: string): string => {
    if (!/[<&]/u.test(html)) return html;
    // Not a document of its own: in it, `<img name=body>` replaces the property `body`, and the text would be lost.
    const body = window.document.createElement('body');
    body.innerHTML = html;
    for (const element of body.querySelectorAll(notText)) element.remove();
    return textOf(body);
  };
  /** A frameset at the start of the markup makes the parser drop the body; FORCE_BODY keeps the body. */
  const parse = (html: string, config: Config): HTMLElement => {
    const settings = config as Config & { RETURN_DOM: true };
    const valid = withoutForbidden(html);
    const body = purify.sanitize(valid, settings) ?? purify.sanitize(valid, { ...settings, FORCE_BODY: true });
    return body ? adopt(body as unknown as HTMLElement) : window.document.createElement('div');
  };
  return {
    window,
    parseBody(html) {
      const body = parse(html, firstPass);
      return { body, altered: purify.removed.length > 0 };
    },
    // If nothing was removed, the markup consists of allowed elements alone, and a parser returns those unchanged.
    finish: (html, altered) => (altered ? String(purify.sanitize(html, secondPass)) : html),
    parseComment: (html) => parse(html, commentConfig),
    parseNote: (html) => parse(html, noteConfig),
    line(html, longest) {
      const line = cleanLine(textWithoutMarkup(html));
      return longest === undefined ? line : truncateAtWord(line, longest);
    },
    lines: (html) => cleanLines(textWithoutMarkup(html)),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const forbidden = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/gu;

/** Markup without the characters that HTML and XML forbid. Word processors leave a vertical tab where a line ends. */
const withoutForbidden = (html: string): string => html.toWellFormed().replaceAll('\u000b', ' ').replace(forbidden, '');

// Plain text that pages may print: no control characters, and no characters that reorder the text around it.

// Bidirectional embeddings, overrides and isolates can make a headline read as something else, or affect the text after it. The marks
// LRM and RLM stay, because right-to-left text needs them.
const reordering = /[\u202a-\u202e\u2066-\u2069]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u2060-\u2064\ufeff\ufff9-\ufffb]/gu;

/** One line of text. */
export function cleanLine(text: string): string {
  return text
    .toWellFormed()
    .replace(controls, '')
    .replace(reordering, '')
    .replace(/[\s\u2028\u2029]+/gu, ' ')
    .trim();
}

/** Several lines of text, without empty ones. */
function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/u)
    .map(cleanLine)
    .filter((line) => line !== '')
    .join('\n');
}

const rtl = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Whether text has right-to-left letters. */
export const hasRightToLeft = (text: string): boolean => rtl.test(text);
