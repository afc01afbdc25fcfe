import { describe, expect, it } from 'vitest';
import { wirePost } from '../../../tests/fixtures/wordpress.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

async function take(rendered: string) {
  const result = await ingestDocument(sanitizer, 'articles', wirePost({ id: 1, content: { rendered } }), plainContext);
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document;
}
const body = async (rendered: string): Promise<string> => (await take(rendered)).bodyHtml;

describe('a formula', () => {
  const square = '<msup><mi>c</mi><mn>2</mn></msup>';

  it('in WordPress’s Math block is kept, without its TeX source and styles', async () => {
    const formula = (inner: string) => `<div class="wp-block-math"><math display="block">${inner}</math></div>`;
    const row = `<mrow><mi>E</mi><mo stretchy="false">=</mo><mi>m</mi>${square}</mrow>`;
    const written = row.replace('<mi>m</mi>', '<mi class="tml-x" style="color:red" mathcolor="red">m</mi>');
    expect(
      await body(
        formula(`<semantics>${written}<annotation encoding="application/x-tex">E=mc^2</annotation></semantics>`),
      ),
    ).toBe(formula(`<semantics>${row}</semantics>`));
  });

  it('stays within its sentence, and can be searched for', async () => {
    const document = await take(`Einstein wrote <math><mi>E</mi><mo>=</mo>${square}</math> in 1905.`);
    expect(document.bodyHtml).toBe(`<p>Einstein wrote <math><mi>E</mi><mo>=</mo>${square}</math> in 1905.</p>`);
    expect(document.searchText).toContain('E=c2');
  });

  it('in older MathML is rewritten with elements that browsers support', async () => {
    expect(await body('<p><math><mfenced separators=";"><mi>a</mi><mi>b</mi><mi>c</mi></mfenced></math></p>')).toBe(
      '<p><math><mrow><mo>(</mo><mi>a</mi><mo>;</mo><mi>b</mi><mo>;</mo><mi>c</mi><mo>)</mo></mrow></math></p>',
    );
    expect(
      await body(
        '<p><math><msup><menclose notation="box"><mi>a</mi><mi>b</mi></menclose><mfenced open="[" close="]"><mi>n</mi></mfenced></msup></math></p>',
      ),
    ).toBe(
      '<p><math><msup><mrow><mi>a</mi><mi>b</mi></mrow><mrow><mo>[</mo><mi>n</mi><mo>]</mo></mrow></msup></math></p>',
    );
    expect(
      await body('<p><math><maction actiontype="toggle"><mfenced><mi>a</mi></mfenced><mi>b</mi></maction></math></p>'),
    ).toBe('<p><math><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow></math></p>');
  });

  it('contains no HTML, and keeps the text within it', async () => {
    expect(await body('<p><math><mtext>if <b onclick="x">both</b> <img src="x" alt="y"></mtext></math></p>')).toBe(
      '<p><math><mtext>if both</mtext></math></p>',
    );
  });
});
