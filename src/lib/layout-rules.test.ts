import { describe, expect, it } from 'vitest';
import { publication } from '../publication.ts';
import { layoutRules, normalizePath } from './layout-rules.ts';

describe('layoutRules', () => {
  it.each(publication.layout.headerHidden)('hides the header on %s', (path) => {
    expect(layoutRules(path).header).toBe('hidden');
    expect(layoutRules(`${path}/?utm_source=x`).header).toBe('hidden');
  });

  it.each(publication.layout.footerHidden)('hides the footer on %s', (path) => {
    expect(layoutRules(path).footer).toBe(false);
  });

  it('gives the home and privacy pages the compact header, and a section page the full one', () => {
    expect(layoutRules('/').header).toBe('compact');
    expect(layoutRules('/privacy-policy').header).toBe('compact');
    expect(layoutRules('/section/politics').header).toBe('full');
  });

  it('does not match a path that only begins with a listed one', () => {
    expect(layoutRules('/printing').header).toBe('full');
    expect(layoutRules('/newsletters').footer).toBe(true);
    expect(layoutRules('/media-kit').theme).toBe('paper');
  });

  it('treats any path containing /article as an article page', () => {
    expect(layoutRules('/article/a-slug').kind).toBe('article');
    expect(layoutRules('/amp/article/a-slug').kind).toBe('article');
  });

  it('uses the dark theme on media pages', () => {
    expect(layoutRules('/media').theme).toBe('media');
    expect(layoutRules('/media/a-film').theme).toBe('media');
  });

  it('removes the header’s controls on community pages', () => {
    expect(layoutRules('/community').headerControls).toBe(false);
    expect(layoutRules('/').headerControls).toBe(true);
  });

  it('shows the subscribe bar on home and section pages, and not on articles', () => {
    expect(layoutRules('/').stickyFooter).toBe(true);
    expect(layoutRules('/section/culture?page=2').stickyFooter).toBe(true);
    expect(layoutRules('/article/x').stickyFooter).toBe(false);
  });
});

describe('normalizePath', () => {
  it('drops query, fragment and trailing slashes', () => {
    expect(normalizePath('/about/#rss-feeds')).toBe('/about');
    expect(normalizePath('//')).toBe('/');
    expect(normalizePath('/?page=2')).toBe('/');
  });
});
