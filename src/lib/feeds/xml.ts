/** The little XML that feeds and sitemaps need: elements as values, escaped once, in one place. */

/** An element: its name, its attributes (those with `null` are left out), its text or children. */
export type XmlNode = readonly [
  name: string,
  attributes: Readonly<Record<string, string | number | null>>,
  children: string | readonly (XmlNode | null)[],
];

// XML 1.0 has no way to write these, escaped or not.
const unwritable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Text as XML may carry it, in an element or in an attribute. */
export const escapeXml = (text: string): string =>
  text.replace(unwritable, '').replace(/[&<>"']/g, (character) => entities[character] as string);

function write(node: XmlNode): string {
  const [name, attributes, children] = node;
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('');
  const inner =
    typeof children === 'string'
      ? escapeXml(children)
      : children
          .filter((child) => child !== null)
          .map(write)
          .join('');
  return inner === '' ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`;
}

/** A whole document in UTF-8. */
export const xmlDocument = (root: XmlNode): string => `<?xml version="1.0" encoding="UTF-8"?>\n${write(root)}\n`;
