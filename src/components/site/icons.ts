/** The shapes of icons, see Icon.astro. */

/** Paths of the line icons, on a grid of 20 pixels. */
export const paths = {
  menu: 'M2 4.5h16M2 10h16M2 15.5h16',
  search: 'M8.5 14.5a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM13 13l5 5',
  person: 'M10 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 18.5c.6-4 3.5-6 7.5-6s6.900 2 7.500 6',
  close: 'M4 4l12 12M16 4L4 16',
  play: 'M6 3.5v13l11-6.500z',
  outside: 'M8 4H4v12h12v-4M11 3h6v6M17 3l-8 8',
  share: 'M10 12.5V2.5M6.5 5.5L10 2l3.5 3.5M6 8.5H4V18h12V8.5h-2',
  bookmark: 'M5 2.5h10V18l-5-4-5 4z',
  listen: 'M3 15v-4.5a7 7 0 0 1 14 0V15M3 12h2.5v5.5H3zM14.5 12H17v5.5h-2.5z',
  print: 'M5.5 7V2.5h9V7M5.5 14H3V7h14v7h-2.5M5.5 11.5h9v6h-9z',
  gift: 'M3 8.5h14V18H3zM2 5.5h16v3H2zM10 5.5V18M10 5.5C8 1 4.5 2 5.5 4.5M10 5.5c2-4.5 5.5-3.5 4.5-1',
  link: 'M8.5 11.5a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1.5 1.5M11.5 8.5a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1.5-1.5',
  mail: 'M2.5 4.5h15v11h-15zM2.5 5l7.5 6 7.5-6',
} as const;

const rays = Array.from({ length: 13 }, (_, index) => {
  const angle = Math.PI * (index / 12);
  const length = index % 2 === 0 ? 31 : 25;
  const at = (radius: number, turn: number) =>
    [32 - radius * Math.cos(angle + turn), 33 - radius * Math.sin(angle + turn)]
      .map((each) => Number(each.toFixed(1)))
      .join(' ');
  return `M${at(16.5, -0.055)}L${at(length, 0)} ${at(16.5, 0.055)}z`;
});

/** Path of the rising sun, 64 by 34 pixels: computed once, because an icon is rendered a hundred times a page. */
export const sun = `M19 33a13 13 0 0 1 26 0z${rays.join('')}`;

export type IconName = keyof typeof paths | 'sun';
