import { describe, expect, it } from 'vitest';
import type { Section } from './content/model.ts';
import { ariaCurrent, extraItems, sectionItems } from './layout-rules.ts';

describe('sectionItems', () => {
  it('shows the sections’ labels in the given order', () => {
    const sections = [
      { slug: 'culture', name: 'Culture', label: 'Arts+' },
      { slug: 'opinion', name: 'Opinion', label: 'Opinion' },
    ] as Section[];
    expect(sectionItems(sections)).toEqual([
      { name: 'Arts+', href: '/section/culture' },
      { name: 'Opinion', href: '/section/opinion' },
    ]);
  });
});

describe('extraItems', () => {
  it('are Shop, Events, Watch and Games, of which only Shop is external', () => {
    expect(extraItems.map((item) => [item.name, item.external ?? false])).toEqual([
      ['Shop', true],
      ['Events', false],
      ['Watch', false],
      ['Games', false],
    ]);
  });
});

describe('ariaCurrent', () => {
  it('is “page” on the page itself and “true” on pages below it', () => {
    expect(ariaCurrent('/media', '/media')).toBe('page');
    expect(ariaCurrent('/media', '/media/a-film')).toBe('true');
    expect(ariaCurrent('/media', '/media-kit')).toBeUndefined();
    expect(ariaCurrent('/', '/media')).toBeUndefined();
    expect(ariaCurrent('/', '/')).toBe('page');
  });
});
