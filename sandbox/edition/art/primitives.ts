/** The few shapes that the edition's illustrations are cut from. Everything is SVG text on a plate of 1600 by 900. */
import { randomNumbers } from '../../random.ts';

export const width = 1600;
export const height = 900;

/** Inks of one illustration, lightest first; `accent` is the sun's. */
export interface Palette {
  readonly paper: string;
  readonly light: string;
  readonly mid: string;
  readonly dark: string;
  readonly ink: string;
  readonly accent: string;
}

/** A scene draws itself with its inks and its own random numbers, so that two stories with one motif never look the same. */
export type Scene = (p: Palette, random: Random) => string;

export interface Random {
  /** From `low` up to, not including, `high`. */
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`. */
  whole(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

/** Random numbers that are the same for the same seed on every machine. */
export function seededRandom(seed: string): Random {
  let hash = 2166136261;
  for (const character of seed) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 16777619);
  const next = randomNumbers(hash);
  for (let i = 0; i < 5; i += 1) next();
  return {
    between: (low, high) => low + next() * (high - low),
    whole: (low, high) => Math.floor(low + next() * (high - low + 1)),
    pick: (list) => list[Math.floor(next() * list.length)] as never,
    chance: (probability) => next() < probability,
  };
}

/** Sets the opacity of the ink, not of the shape, because the renderer draws each translucent shape on a separate plate. */
const inked = (more: string): string =>
  more.replace(/(^|\s)opacity="([^"]+)"/, '$1fill-opacity="$2" stroke-opacity="$2"');

const n = (value: number): string => (Math.round(value * 10) / 10).toString();
export const rect = (x: number, y: number, w: number, h: number, fill: string, more = ''): string =>
  `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${fill}" ${inked(more)}/>`;
export const circle = (x: number, y: number, r: number, fill: string, more = ''): string =>
  `<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}" fill="${fill}" ${inked(more)}/>`;
export const ellipse = (x: number, y: number, rx: number, ry: number, fill: string, more = ''): string =>
  `<ellipse cx="${n(x)}" cy="${n(y)}" rx="${n(rx)}" ry="${n(ry)}" fill="${fill}" ${inked(more)}/>`;
export const path = (d: string, fill: string, more = ''): string => `<path d="${d}" fill="${fill}" ${inked(more)}/>`;
export const poly = (points: readonly (readonly [number, number])[], fill: string, more = ''): string =>
  path(`M${points.map(([x, y]) => `${n(x)} ${n(y)}`).join('L')}Z`, fill, more);
export const stroke = (d: string, color: string, w: number, more = ''): string =>
  `<path d="${d}" fill="none" stroke="${color}" stroke-width="${n(w)}" ${inked(more)}/>`;
export const at = (x: number, y: number, scale: number, inner: string, turn = 0): string =>
  `<g transform="translate(${n(x)} ${n(y)}) rotate(${n(turn)}) scale(${scale.toFixed(3)})">${inner}</g>`;
/** Draws `count` things, numbered from 0. */
export const repeat = (count: number, draw: (index: number) => string): string =>
  Array.from({ length: Math.max(0, Math.round(count)) }, (_, index) => draw(index)).join('');

/** Marks of a tile in one direction: the renderer's time depends on the number of tiles, not on what is in them. */
const marks = 20;

/** Fills of engraved lines and dots, referred to as `url(#…)`. */
export function fills(p: Palette): string {
  const tile = (id: string, gap: number, turn: number, color: string, d: string) =>
    `<pattern id="${id}" width="${gap * marks}" height="${gap * marks}" patternUnits="userSpaceOnUse" patternTransform="rotate(${turn})"><path d="${d}" fill="${color}"/></pattern>`;
  const lines = (id: string, color: string, gap: number, w: number, turn: number) =>
    tile(id, gap, turn, color, repeat(marks, (row) => `M0 ${row * gap}h${gap * marks}v${w}H0z`));
  const dots = (id: string, color: string, gap: number, r: number) =>
    tile(
      id,
      gap,
      28,
      color,
      repeat(marks * marks, (index) => {
        const [x, y] = [(index % marks) * gap + gap / 2, Math.floor(index / marks) * gap + gap / 2];
        return `M${n(x - r)} ${n(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
      }),
    );
  return `<defs>${lines('hatch', p.ink, 9, 2.6, -45)}${lines('hatch-light', p.paper, 10, 2.4, -45)}${lines('level', p.dark, 9, 2.4, 0)}${lines('level-light', p.paper, 11, 2.6, 0)}${lines('plumb', p.dark, 10, 2.6, 90)}${dots('dots', p.mid, 13, 3.1)}${dots('dots-dark', p.dark, 13, 2.8)}${dots('dots-accent', p.accent, 12, 3.2)}</defs>`;
}

/** A disc with rays, the newspaper's own sun. */
export const sun = (x: number, y: number, r: number, p: Palette, rays = 0): string =>
  repeat(rays, (i) => {
    const a = (i / rays) * Math.PI * 2;
    const b = Math.PI / rays / 2.2;
    const far = 2200;
    return poly([[x, y], [x + Math.cos(a - b) * far, y + Math.sin(a - b) * far], [x + Math.cos(a + b) * far, y + Math.sin(a + b) * far]], p.light, 'opacity=".55"');
  }) +
  circle(x, y, r, p.accent) +
  circle(x, y, r * 0.86, 'none', `stroke="${p.paper}" stroke-width="${n(r * 0.035)}"`);

/** A sky in one of several manners, sun included. */
export function sky(p: Palette, random: Random, horizon = 600): string {
  const x = random.between(250, 1350);
  const y = random.between(horizon * 0.28, horizon * 0.8);
  const r = random.between(80, 170);
  const ground = rect(0, 0, width, height, p.paper);
  const manner = random.whole(0, 3);
  if (manner === 0) return ground + sun(x, y, r, p, random.whole(16, 26));
  if (manner === 1) {
    return ground + rect(0, 0, width, horizon * 0.34, p.light) + rect(0, horizon * 0.34, width, horizon * 0.2, p.light, 'opacity=".55"') + sun(x, y, r, p) + rect(0, 0, width, horizon * 0.5, 'url(#level-light)', 'opacity=".8"');
  }
  if (manner === 2) return ground + rect(0, 0, width, height, 'url(#dots)', 'opacity=".35"') + sun(x, y, r, p) + clouds(p, random, horizon * 0.5);
  return ground + rect(0, 0, width, height, p.light) + sun(x, y, r * 1.2, p) + clouds(p, random, horizon * 0.6);
}

/** Flat-bottomed clouds down to a height. */
export const clouds = (p: Palette, random: Random, low: number): string =>
  repeat(random.whole(3, 5), () => {
    const x = random.between(-60, 1500);
    const y = random.between(60, low);
    const w = random.between(160, 380);
    return `<g opacity=".9">${rect(x, y, w, w * 0.11, p.paper, `rx="${n(w * 0.055)}"`)}${circle(x + w * 0.34, y, w * 0.14, p.paper)}${circle(x + w * 0.58, y + 4, w * 0.11, p.paper)}${rect(x, y + w * 0.06, w, w * 0.05, 'url(#level)', 'opacity=".25"')}</g>`;
  });

/** Water from a height down, with short bright strokes. */
export const water = (p: Palette, random: Random, y: number): string =>
  rect(0, y, width, height - y, p.mid) +
  repeat(70, () => {
    const depth = random.between(0, 1);
    const top = y + 8 + depth * depth * (height - y);
    const w = 18 + depth * 150;
    return rect(random.between(-80, 1600), top, w, 2 + depth * 5, random.chance(0.55) ? p.light : p.dark, 'rx="2" opacity=".75"');
  });

/** Rolling ground: a filled curve from a height. */
export function hill(p: string, random: Random, y: number, swing: number): string {
  let d = `M0 ${n(y + random.between(-swing, swing))}`;
  for (let x = 0; x < width; x += 400) {
    d += `C${x + 130} ${n(y + random.between(-swing, swing))} ${x + 270} ${n(y + random.between(-swing, swing))} ${x + 400} ${n(y + random.between(-swing, swing))}`;
  }
  return path(`${d}V${height}H0Z`, p);
}

/** A person as a silhouette, feet at 0 0, about 100 high. */
export const person = (color: string, random: Random): string => {
  const w = random.between(15, 20);
  const long = random.chance(0.4);
  const hat = random.chance(0.35);
  return (
    path(`M${n(-w)} ${long ? -18 : -42}L${n(-w * 0.85)} -72Q0 -86 ${n(w * 0.85)} -72L${n(w)} ${long ? -18 : -42}Z`, color) +
    (long ? '' : rect(-w * 0.78, -46, w * 0.66, 46, color) + rect(w * 0.12, -46, w * 0.66, 46, color)) +
    (long ? rect(-w * 0.5, -20, w * 0.32, 20, color) + rect(w * 0.2, -20, w * 0.32, 20, color) : '') +
    circle(0, -91, 10.5, color) +
    (hat ? rect(-15, -101, 30, 4, color) + rect(-9, -112, 18, 13, color) : '')
  );
};

/** A leafy tree, foot at 0 0, about 100 high. */
export const tree = (p: Palette, random: Random): string =>
  rect(-4, -45, 8, 45, p.ink) +
  circle(0, -70, 32, p.dark) +
  circle(-18, -54, 22, p.dark) +
  circle(18, -56, 24, p.dark) +
  circle(8, -78, 18, p.mid, 'opacity=".8"') +
  (random.chance(0.6) ? circle(0, -66, 34, 'url(#hatch)', 'opacity=".25"') : '');
