/** The publication has the words and numbers that the specification fixes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publication } from './publication.ts';

describe('the publication’s sections', () => {
  it('are the ten of the specification, with its IDs and numbers of stories on the home page', () => {
    const { sections } = publication;
    expect(sections.map(({ slug, id, homepageCount }) => `${slug} ${id}/${homepageCount}`)).toEqual([
      'editorials 1/5',
      'national 2/6',
      'foreign 3/6',
      'politics 4/5',
      'culture 5/12',
      'economy 6/4',
      'education 7/3',
      'justice 8/4',
      'columnists 9/3',
      'opinion 13/4',
    ]);
    expect(sections.filter(({ name, label }) => name !== label).map(({ label }) => label)).toEqual(['Arts+']);
    const positions = sections.map(({ navigationPosition }) => navigationPosition);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(new Set(sections.map(({ color }) => color))).toEqual(new Set(['default', 'red']));
  });
});

describe('the publication’s limits', () => {
  it('match the specification', () => {
    expect(publication.pageSizes).toMatchObject({
      articles: 10,
      comments: 10,
      authorArticlesAside: 3,
      authorArticles: 12,
      category: 6,
      crosswords: 12,
      videos: 12,
    });
    expect(publication.limits).toMatchObject({ excerpt: 300, description: 155 });
    expect(publication.images).toEqual({
      deviceWidths: [640, 750, 828, 1080, 1200, 1920, 2048, 3840],
      smallWidths: [16, 32, 48, 64, 96, 128, 256, 384],
      quality: 75,
      social: { width: 1280, height: 720 },
    });
    expect(publication.layout).toMatchObject({
      headerScrollThreshold: 250,
      welcomePopup: { scroll: 800, minWidth: 768 },
      printPromo: { delay: 2000, every: 86_400_000 },
    });
  });
});

describe('the breakpoints', () => {
  it('in page layouts are those of the specification', () => {
    // Single components, and pictures in a text, may have breakpoints of their own; the styles of the page's layout may not.
    for (const folder of ['styles', 'layouts']) {
      const files = readdirSync(join(import.meta.dirname, folder)).filter((name) =>
        /^(?!prose).*\.(?:css|astro)$/u.test(name),
      );
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) {
        const text = readFileSync(join(import.meta.dirname, folder, file), 'utf8');
        for (const [, edge, width, unit] of text.matchAll(/\((min|max)-width: ([\d.]+)(px|r?em)\)/gu)) {
          // No phone is that narrow: this layout is for a phone whose text is larger than usual.
          if (edge === 'max' && `${width}${unit}` === '19.99em') continue;
          const pixels = Number(width) * (unit === 'px' ? 1 : 16);
          expect([768, 1024, 1280], `${folder}/${file}`).toContain(edge === 'min' ? pixels : Math.ceil(pixels));
        }
      }
    }
  });

  it('are not given in pixels, so that they follow the reader’s text size', () => {
    // Google chooses an advertisement by the window's pixels, and mail has breakpoints of its own.
    const others = ['components/ads/AdSlot.astro', 'lib/mail/messages/layout.ts'];
    const inPixels = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:css|astro|tsx?)$/u.test(file) && !/\.test\.tsx?$/u.test(file))
      .filter((file) =>
        /\((?:min|max)-width: ?[\d.]+px\)/u.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
      );
    expect(inPixels.filter((file) => !others.includes(file))).toEqual([]);
  });
});
