import { describe, expect, it, test } from 'vitest';
import { imageSrcset, imageUrl, placeholderColour } from './url.ts';

describe('addresses of pictures', () => {
  test('the original is encoded', () => {
    expect(imageUrl('https://wp.example/a b.jpg?x=1&y=2', 640)).toBe(
      '/image?url=https%3A%2F%2Fwp.example%2Fa%20b.jpg%3Fx%3D1%26y%3D2&width=640&quality=75',
    );
  });
  test('an unlisted width is a mistake of ours', () =>
    expect(() => imageUrl('https://a.example/x', 500)).toThrow(RangeError));
  test('no browser is offered an enlargement', () => {
    const widths = imageSrcset('https://a.example/x', 800).match(/\d+w/g);
    expect(widths).toEqual(['256w', '384w', '640w', '750w', '828w']);
  });
  test('an unmeasured original is offered up to the bound', () => {
    expect(imageSrcset('https://a.example/x', null, 640, 1200).match(/\d+w/g)).toEqual([
      '640w',
      '750w',
      '828w',
      '1080w',
      '1200w',
    ]);
  });
});

it('takes turns in white, gold and red', () => {
  expect([0, 1, 2, 3, 4].map(placeholderColour)).toEqual(['white', 'gold', 'red', 'white', 'gold']);
});
