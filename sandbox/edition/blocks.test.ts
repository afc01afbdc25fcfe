import { describe, expect, it } from 'vitest';
import { markdownToBlocks, serializeAttributes } from './blocks.ts';

describe('markdownToBlocks', () => {
  it('writes paragraphs, headings and separators as the WordPress editor does', () => {
    expect(markdownToBlocks('One *and* "two".\n\n## Head\n\n### Sub\n\n---')).toBe(
      [
        '<!-- wp:paragraph -->\n<p>One <em>and</em> "two".</p>\n<!-- /wp:paragraph -->',
        '<!-- wp:heading -->\n<h2 class="wp-block-heading">Head</h2>\n<!-- /wp:heading -->',
        '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading">Sub</h3>\n<!-- /wp:heading -->',
        '<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->',
      ].join('\n\n'),
    );
  });

  it('nests list items as inner blocks', () => {
    const html = markdownToBlocks('3. a\n4. b\n   - c');
    expect(html).toContain('<!-- wp:list {"ordered":true,"start":3} -->\n<ol start="3" class="wp-block-list">');
    expect(html).toContain('<!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item -->');
    expect(html).toContain('<li>b<!-- wp:list -->\n<ul class="wp-block-list">');
  });

  it('cites the last line of a quotation as its source', () => {
    expect(markdownToBlocks('> Words.\n>\n> — Somebody')).toBe(
      '<!-- wp:quote -->\n<blockquote class="wp-block-quote"><!-- wp:paragraph -->\n<p>Words.</p>\n<!-- /wp:paragraph --><cite>Somebody</cite></blockquote>\n<!-- /wp:quote -->',
    );
  });

  it('keeps the alignment of table columns', () => {
    expect(markdownToBlocks('| A | B |\n|---|--:|\n| x | 1 |')).toContain(
      '<tbody><tr><td>x</td><td class="has-text-align-right" data-align="right">1</td></tr></tbody>',
    );
  });

  it('escapes ampersands and quotes in attributes', () => {
    expect(markdownToBlocks('[a](https://example.com/?a=1&b=2 "say \\"x\\"")')).toContain(
      '<a href="https://example.com/?a=1&amp;b=2" title="say &quot;x&quot;">a</a>',
    );
  });

  it('escapes block attributes so that they cannot end their HTML comment', () => {
    expect(serializeAttributes({ a: '--><script>' })).toBe('{"a":"\\u002d\\u002d\\u003e\\u003cscript\\u003e"}');
  });
});
