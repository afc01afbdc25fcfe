import { describe, expect, it, test } from 'vitest';
import { imageSrcset, imageUrl, placeholderColor, sizesOnPhones, widthFor } from './url.ts';

describe('picture URLs', () => {
  test('encode the URL of the original', () => {
    expect(imageUrl('https://wp.example/a b.jpg?x=1&y=2', 640)).toBe(
      '/image?url=https%3A%2F%2Fwp.example%2Fa%20b.jpg%3Fx%3D1%26y%3D2&width=640&quality=75',
    );
  });
  test('cannot be made for a width that is not offered', () =>
    expect(() => imageUrl('https://a.example/x', 500)).toThrow(RangeError));
  test('are offered up to the original’s width, so that no browser enlarges it', () => {
    const widths = imageSrcset('https://a.example/x', 800).match(/\d+w/g);
    expect(widths).toEqual(['256w', '384w', '640w', '750w', '828w']);
  });
  test('are offered up to the given maximum if the original’s width is unknown', () => {
    expect(imageSrcset('https://a.example/x', null, 640, 1200).match(/\d+w/g)).toEqual([
      '640w',
      '750w',
      '828w',
      '1080w',
      '1200w',
    ]);
  });

  test.each([
    // A card's thumbnail: half of a tablet's window, at two device pixels per CSS pixel.
    ['(min-width: 64em) 18.75em, (min-width: 48em) 50vw, 7em', 1080],
    ['(min-width: 64em) 9em, (min-width: 48em) 13.75em, 7em', 750],
    ['(min-width: 48em) 18.75em, 100vw', 1920],
    ['7em', 384],
    // A share of a window of any width, and other units.
    ['(min-width: 64em) 25vw, 100vw', 2048],
    ['(min-width: 48rem) 41rem, 100vw', 2048],
  ])('for sizes="%s" need at most %i pixels', (sizes, width) => expect(widthFor(sizes)).toBe(width));
});

it('phones with three pixels per CSS pixel load two for a picture as wide as the window', () => {
  const phone = '(min-resolution: 2.1dppx) 63vw, 95vw';
  expect(sizesOnPhones('100vw')).toBe(phone);
  expect(sizesOnPhones('(min-width: 48em) calc(100vw - 4rem), 100vw')).toBe(
    `(min-width: 48em) calc(100vw - 4rem), ${phone}`,
  );
  expect(sizesOnPhones('(min-width: 48em) 50vw, 7em')).toBe('(min-width: 48em) 50vw, 7em');
});

it('placeholder colors rotate through white, gold and red', () => {
  expect([0, 1, 2, 3, 4].map(placeholderColor)).toEqual(['white', 'gold', 'red', 'white', 'gold']);
});
