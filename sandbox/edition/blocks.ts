/** Markdown to the block markup that WordPress's editor writes itself, so that an imported text opens as blocks. */
import { type Token, type Tokens, marked } from 'marked';

/** One block with its delimiters; attributes are written as the editor writes them. */
function block(name: string, html: string, attributes: Record<string, unknown> = {}): string {
  const json = Object.keys(attributes).length > 0 ? `${serializeAttributes(attributes)} ` : '';
  return `<!-- wp:${name} ${json}-->\n${html}\n<!-- /wp:${name} -->`;
}

/** JSON that cannot end the HTML comment that contains it. */
export const serializeAttributes = (attributes: Record<string, unknown>): string =>
  JSON.stringify(attributes)
    .replaceAll('--', '\\u002d\\u002d')
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026');

/** Turns a whole Markdown text into blocks. */
export function markdownToBlocks(markdown: string): string {
  return blocksOf(marked.lexer(markdown));
}

/** Turns HTML that consists of `<p>` elements into blocks. @throws for any other element */
export function htmlToBlocks(html: string): string {
  const paragraphs = html.match(/<p>[\s\S]*?<\/p>/g) ?? [];
  if (paragraphs.join('') !== html.replace(/>\s+<p>/g, '><p>').trim()) throw new Error(`Not only paragraphs: ${html.slice(0, 80)}`);
  return paragraphs.map((text) => block('paragraph', text)).join('\n\n');
}

const blocksOf = (tokens: readonly Token[]) =>
  tokens
    .map(blockOf)
    .filter((text) => text !== '')
    .join('\n\n');

function blockOf(token: Token): string {
  switch (token.type) {
    case 'paragraph':
      return paragraph(token as Tokens.Paragraph);
    case 'text':
      return block('paragraph', `<p>${inline((token as Tokens.Text).tokens ?? [token])}</p>`);
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      const html = `<h${depth} class="wp-block-heading">${inline(tokens)}</h${depth}>`;
      return block('heading', html, depth === 2 ? {} : { level: depth });
    }
    case 'list':
      return list(token as Tokens.List);
    case 'blockquote':
      return quote(token as Tokens.Blockquote);
    case 'table':
      return table(token as Tokens.Table);
    case 'code':
      return block('code', `<pre class="wp-block-code"><code>${escapeText((token as Tokens.Code).text)}</code></pre>`);
    case 'hr':
      return block('separator', '<hr class="wp-block-separator has-alpha-channel-opacity"/>');
    case 'html':
      return block('html', (token as Tokens.HTML).text.trim());
    case 'space':
    case 'def':
      return '';
    default:
      throw new Error(`No block for Markdown of the kind "${token.type}": ${token.raw.slice(0, 60)}`);
  }
}

function paragraph({ tokens }: Tokens.Paragraph): string {
  const [only] = tokens;
  if (tokens.length === 1 && only?.type === 'image') {
    const { href, text, title } = only as Tokens.Image;
    const caption = title ? `<figcaption class="wp-element-caption">${escapeText(title)}</figcaption>` : '';
    return block(
      'image',
      `<figure class="wp-block-image"><img src="${escapeAttribute(href)}" alt="${escapeAttribute(text)}"/>${caption}</figure>`,
    );
  }
  return block('paragraph', `<p>${inline(tokens)}</p>`);
}

function list({ ordered, start, items }: Tokens.List): string {
  const tag = ordered ? 'ol' : 'ul';
  const attributes: Record<string, unknown> = ordered ? { ordered: true } : {};
  const from = ordered && typeof start === 'number' && start !== 1 ? start : undefined;
  if (from !== undefined) attributes.start = from;
  const entries = items.map((item) => {
    const text = item.tokens.filter((token) => token.type === 'text' || token.type === 'paragraph');
    const nested = item.tokens.filter((token) => token.type === 'list').map((token) => list(token as Tokens.List));
    const html = text.map((token) => inline((token as Tokens.Text).tokens ?? [token])).join('<br>');
    return block('list-item', `<li>${html}${nested.join('')}</li>`);
  });
  const open = from === undefined ? `<${tag} class="wp-block-list">` : `<${tag} start="${from}" class="wp-block-list">`;
  return block('list', `${open}${entries.join('\n\n')}</${tag}>`, attributes);
}

/** A quotation; a last paragraph that begins with a dash names who is quoted. */
function quote({ tokens }: Tokens.Blockquote): string {
  const body = tokens.filter((token) => token.type !== 'space');
  const last = body.at(-1);
  const source = body.length > 1 && last?.type === 'paragraph' && /^(—|--)\s*/.test(last.raw) ? last : undefined;
  const cite = source ? `<cite>${inline((source as Tokens.Paragraph).tokens).replace(/^(—|--)\s*/, '')}</cite>` : '';
  const inner = blocksOf(source ? body.slice(0, -1) : body);
  return block('quote', `<blockquote class="wp-block-quote">${inner}${cite}</blockquote>`);
}

function table({ header, rows, align }: Tokens.Table): string {
  const cell = (tag: 'th' | 'td', content: Tokens.TableCell, column: number) => {
    const side = align[column];
    const attributes = side ? ` class="has-text-align-${side}" data-align="${side}"` : '';
    return `<${tag}${attributes}>${inline(content.tokens)}</${tag}>`;
  };
  const row = (tag: 'th' | 'td', cells: Tokens.TableCell[]) =>
    `<tr>${cells.map((content, column) => cell(tag, content, column)).join('')}</tr>`;
  const head = `<thead>${row('th', header)}</thead>`;
  const body = `<tbody>${rows.map((cells) => row('td', cells)).join('')}</tbody>`;
  return block('table', `<figure class="wp-block-table"><table>${head}${body}</table></figure>`, {
    hasFixedLayout: false,
  });
}

/** Inline Markdown as HTML; quotation marks stay as typed, because WordPress sets them. */
function inline(tokens: readonly Token[]): string {
  return marked.Parser.parseInline([...tokens]).replace(/&(quot|#39);(?![^<>]*>)/g, (_, name) => (name === 'quot' ? '"' : "'"));
}

export const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const escapeAttribute = (text: string) => escapeText(text).replaceAll('"', '&quot;');
