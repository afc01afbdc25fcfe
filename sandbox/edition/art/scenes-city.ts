/** Scenes of streets, public buildings and works. */
import { at, circle, type Random, ellipse, height, hill, type Palette, path, person, poly, rect, repeat, type Scene, sky, stroke, sun, tree, water, width } from './primitives.ts';

/** A block with rows of windows, some lit. */
function block(x: number, top: number, w: number, bottom: number, fill: string, p: Palette, random: Random): string {
  const columns = Math.max(2, Math.round(w / 34));
  const rows = Math.max(2, Math.round((bottom - top) / 44));
  const gap = w / columns;
  return (
    rect(x, top, w, bottom - top, fill) +
    rect(x + w * 0.62, top, w * 0.38, bottom - top, 'url(#hatch)', 'opacity=".45"') +
    repeat(columns * rows, (i) => {
      const lit = random.chance(0.3);
      if (!lit && random.chance(0.25)) return '';
      return rect(x + (i % columns) * gap + gap * 0.28, top + 16 + Math.floor(i / columns) * 44, gap * 0.44, 24, lit ? p.accent : p.light, lit ? '' : 'opacity=".5"');
    })
  );
}

function roofs(p: Palette, random: Random, base: number, tall: number, fill: string): string {
  let out = '';
  for (let x = -20; x < width; ) {
    const w = random.between(80, 170);
    const top = base - random.between(tall * 0.35, tall);
    out += block(x, top, w, height, fill, p, random);
    const crown = random.whole(0, 4);
    if (crown === 0) out += poly([[x + w * 0.2, top], [x + w / 2, top - 70], [x + w * 0.8, top]], fill) + rect(x + w / 2 - 2, top - 120, 4, 60, fill);
    if (crown === 1) out += rect(x + w * 0.2, top - 34, w * 0.6, 36, fill) + rect(x + w * 0.36, top - 62, w * 0.28, 30, fill);
    if (crown === 2) out += rect(x + w * 0.55, top - 40, 6, 42, p.ink) + path(`M${x + w * 0.3} ${top}v-26h34v26z`, p.ink) + path(`M${x + w * 0.3 - 4} ${top - 26}l21 -18 21 18z`, p.ink);
    x += w + random.between(0, 14);
  }
  return out;
}

/** Columns under a pediment, standing on steps; `cx` its middle, `base` its ground. */
function temple(p: Palette, cx: number, base: number, w: number, h: number, columns: number): string {
  const left = cx - w / 2;
  const shaft = h * 0.56;
  const gap = w / columns;
  return (
    rect(left, base - h * 0.78, w, h * 0.78, p.dark) +
    repeat(columns, (i) => {
      const x = left + gap * i + gap * 0.25;
      const cw = gap * 0.5;
      return rect(x, base - h * 0.1 - shaft, cw, shaft, p.paper) + rect(x + cw * 0.62, base - h * 0.1 - shaft, cw * 0.38, shaft, 'url(#plumb)', 'opacity=".6"') + rect(x - cw * 0.16, base - h * 0.1 - shaft - 12, cw * 1.32, 14, p.paper) + rect(x - cw * 0.16, base - h * 0.1 - 14, cw * 1.32, 14, p.paper);
    }) +
    rect(left - w * 0.03, base - h * 0.78, w * 1.06, h * 0.12, p.paper) +
    rect(left - w * 0.03, base - h * 0.7, w * 1.06, h * 0.035, 'url(#plumb)', 'opacity=".7"') +
    poly([[left - w * 0.05, base - h * 0.78], [cx, base - h * 1.06], [left + w * 1.05, base - h * 0.78]], p.paper) +
    poly([[left + w * 0.06, base - h * 0.8], [cx, base - h * 1.0], [left + w * 0.94, base - h * 0.8]], p.mid) +
    circle(cx, base - h * 0.86, h * 0.045, p.accent) +
    repeat(4, (i) => rect(left - w * (0.02 + 0.035 * i), base - h * 0.1 + i * h * 0.032, w * (1.04 + 0.07 * i), h * 0.034, i % 2 ? p.light : p.paper))
  );
}

const skyline: Scene = (p, random) => sky(p, random, 620) + roofs(p, random, 720, 420, p.mid) + roofs(p, random, 860, 330, p.dark) + rect(0, 862, width, 40, p.ink);

const capitol: Scene = (p, random) => {
  const cx = random.between(650, 950);
  return (
    sky(p, random, 560) +
    hill(p.mid, random, 700, 26) +
    rect(cx - 560, 520, 1120, 190, p.paper) + rect(cx - 560, 520, 1120, 190, 'url(#plumb)', 'opacity=".35"') +
    repeat(22, (i) => rect(cx - 535 + i * 50, 560, 20, 96, p.dark)) +
    rect(cx - 580, 500, 1160, 26, p.light) +
    temple(p, cx, 730, 360, 300, 6) +
    rect(cx - 120, 330, 240, 96, p.paper) + repeat(9, (i) => rect(cx - 112 + i * 27, 336, 9, 84, p.dark)) +
    rect(cx - 134, 318, 268, 16, p.light) +
    path(`M${cx - 118} 318C${cx - 118} 190 ${cx - 50} 140 ${cx} 140S${cx + 118} 190 ${cx + 118} 318Z`, p.light) +
    path(`M${cx + 20} 142C${cx + 76} 156 ${cx + 118} 210 ${cx + 118} 318H${cx + 50}C${cx + 56} 230 ${cx + 44} 180 ${cx + 20} 142Z`, 'url(#hatch)', 'opacity=".5"') +
    rect(cx - 22, 92, 44, 52, p.paper) + poly([[cx - 26, 94], [cx, 66], [cx + 26, 94]], p.dark) + rect(cx - 2, 30, 4, 40, p.ink) +
    hill(p.dark, random, 780, 14) +
    repeat(9, () => at(random.between(60, 1540), random.between(800, 880), random.between(0.9, 1.6), tree(p, random)))
  );
};

const courthouse: Scene = (p, random) => {
  const cx = random.between(700, 900);
  return sky(p, random, 500) + roofs(p, random, 640, 220, p.light) + rect(0, 690, width, 220, p.mid) + temple(p, cx, 760, 900, 560, random.pick([6, 8])) + rect(0, 800, width, 110, p.ink) + repeat(7, () => at(random.between(120, 1480), random.between(830, 890), random.between(1, 1.5), person(p.paper, random)));
};

const parliament: Scene = (p, random) => {
  const rows = 6;
  return (
    rect(0, 0, width, height, p.paper) + rect(0, 0, width, 330, p.mid) + repeat(9, (i) => rect(60 + i * 170, 40, 96, 250, p.dark) + path(`M${60 + i * 170} 60a48 48 0 0 1 96 0z`, p.accent, 'opacity=".85"') + rect(60 + i * 170, 60, 96, 230, 'url(#level-light)', 'opacity=".5"')) +
    rect(0, 318, width, 18, p.accent) +
    repeat(rows, (row) => {
      const r = 1050 - row * 125;
      const color = [p.dark, p.mid][row % 2] as string;
      return stroke(`M${800 - r} 960A${r} ${r * 0.62} 0 0 1 ${800 + r} 960`, p.light, 58) + repeat(28 - row * 4, (i) => {
        const a = Math.PI * (1.06 + (0.88 * i) / (27 - row * 4));
        if (random.chance(0.12)) return '';
        return at(800 + Math.cos(a) * r, 960 + Math.sin(a) * r * 0.62 + 34, 0.95 + (rows - row) * -0.03 + row * 0.1, circle(0, -62, 13, p.ink) + path('M-22 0Q-22 -46 0 -46T22 0Z', random.chance(0.2) ? p.accent : color));
      });
    }) +
    poly([[690, 900], [720, 800], [880, 800], [910, 900]], p.ink) + at(800, 802, 1.3, circle(0, -62, 13, p.ink) + path('M-22 0Q-22 -46 0 -46T22 0Z', p.ink))
  );
};

const harbor: Scene = (p, random) => {
  const crane = (x: number, s: number) => at(x, 640, s, rect(-34, -250, 10, 250, p.ink) + rect(24, -250, 10, 250, p.ink) + stroke('M-29 -20L29 -120M29 -20L-29 -120M-29 -130L29 -230M29 -130L-29 -230', p.ink, 5) + rect(-180, -272, 330, 16, p.ink) + poly([[-10, -272], [8, -350], [26, -272]], p.ink) + stroke('M8 -348L-176 -270M8 -348L146 -270M-130 -262V-150', p.ink, 4) + rect(-158, -152, 56, 30, p.accent));
  const hull = (x: number, s: number) => at(x, 690, s, poly([[-330, -60], [340, -60], [290, 30], [-280, 30]], p.dark) + rect(-330, -66, 670, 12, p.accent) + repeat(20, (i) => rect(-230 + (i % 10) * 46, -104 - Math.floor(i / 10) * 40, 43, 37, random.pick([p.mid, p.accent, p.light, p.dark]))) + rect(236, -170, 70, 108, p.paper) + repeat(3, (i) => rect(246, -160 + i * 30, 50, 12, p.ink)));
  return sky(p, random, 520) + roofs(p, random, 640, 130, p.light) + water(p, random, 640) + crane(random.between(180, 320), 1.15) + crane(random.between(520, 660), 1) + crane(random.between(1240, 1420), 1.25) + hull(random.between(700, 950), 1.15) + at(random.between(150, 400), 800, 1, poly([[-70, -20], [80, -20], [60, 14], [-56, 14]], p.ink) + rect(-30, -54, 56, 36, p.paper) + rect(6, -84, 10, 32, p.ink));
};

const bridge: Scene = (p, random) => {
  const y = 560;
  const tower = (x: number) => rect(x - 34, 170, 68, 500, p.dark) + rect(x - 44, 150, 88, 26, p.dark) + rect(x - 16, 250, 32, 130, p.paper) + path(`M${x - 16} 252a16 16 0 0 1 32 0z`, p.paper) + rect(x - 16, 430, 32, 110, p.paper) + rect(x + 8, 170, 26, 500, 'url(#hatch)', 'opacity=".6"');
  const a = random.between(380, 470);
  const b = width - random.between(380, 470);
  const cable = (offset: number) => stroke(`M-40 ${y - 120}Q${a / 2} ${y - 60} ${a} ${170 + offset}Q${(a + b) / 2} ${y + 130} ${b} ${170 + offset}Q${(b + width) / 2} ${y - 60} ${width + 40} ${y - 120}`, p.ink, 8);
  return sky(p, random, 560) + roofs(p, random, 650, 240, p.light) + water(p, random, 640) + repeat(44, (i) => {
    const x = a + ((b - a) * (i + 1)) / 45;
    const t = (i + 1) / 45;
    const top = (1 - t) ** 2 * 170 + 2 * t * (1 - t) * (y + 130) + t ** 2 * 170;
    return rect(x, top, 2.5, Math.max(0, y - top), p.ink);
  }) + cable(0) + tower(a) + tower(b) + rect(0, y, width, 22, p.ink) + repeat(60, (i) => stroke(`M${i * 28} ${y + 22}l14 24 14 -24`, p.ink, 3)) + rect(0, y + 46, width, 7, p.ink) + repeat(12, () => rect(random.between(0, 1580), y - 13, random.between(20, 44), 14, random.pick([p.accent, p.paper, p.mid]), 'rx="4"'));
};

const factory: Scene = (p, random) => {
  const smoke = (x: number, y: number) => repeat(7, (i) => circle(x + i * random.between(18, 34), y - i * random.between(20, 34), 16 + i * 9, i % 2 ? p.light : p.paper, 'opacity=".9"')) + repeat(6, (i) => circle(x + i * 26, y - i * 28, 14 + i * 8, 'url(#level)', 'opacity=".3"'));
  const stack = (x: number, top: number) => poly([[x - 24, 620], [x - 15, top], [x + 15, top], [x + 24, 620]], p.dark) + rect(x - 17, top + 20, 34, 14, p.accent) + smoke(x, top - 14);
  return sky(p, random, 560) + hill(p.light, random, 620, 22) + stack(random.between(220, 300), 220) + stack(random.between(420, 500), 160) + stack(random.between(620, 700), 270) +
    repeat(7, (i) => poly([[120 + i * 150, 640], [120 + i * 150, 500], [250 + i * 150, 560], [270 + i * 150, 560], [270 + i * 150, 640]], i % 2 ? p.mid : p.dark) + poly([[128 + i * 150, 560], [128 + i * 150, 520], [216 + i * 150, 560]], p.accent)) +
    rect(90, 636, 1120, 160, p.mid) + rect(90, 636, 1120, 160, 'url(#hatch)', 'opacity=".3"') + repeat(18, (i) => rect(120 + i * 60, 672, 34, 60, i % 5 === 2 ? p.accent : p.light)) + rect(1210, 560, 260, 236, p.dark) + repeat(6, (i) => rect(1240 + (i % 3) * 72, 600 + Math.floor(i / 3) * 84, 44, 52, p.light)) + rect(0, 790, width, 110, p.ink) + repeat(9, () => at(random.between(80, 1500), random.between(852, 886), random.between(0.9, 1.2), person(p.light, random)));
};

const school: Scene = (p, random) => sky(p, random, 500) + hill(p.mid, random, 690, 18) + rect(330, 400, 940, 330, p.dark) + rect(330, 400, 940, 330, 'url(#hatch)', 'opacity=".35"') + poly([[300, 400], [800, 250], [1300, 400]], p.mid) + rect(700, 300, 200, 430, p.paper) + poly([[670, 304], [800, 190], [930, 304]], p.dark) + rect(764, 110, 72, 92, p.paper) + poly([[752, 112], [800, 64], [848, 112]], p.accent) + circle(800, 156, 22, p.ink) + circle(800, 350, 38, p.light, `stroke="${p.ink}" stroke-width="6"`) + stroke('M800 350V324M800 350L818 362', p.ink, 5) + rect(760, 580, 80, 150, p.ink) + path('M760 582a40 40 0 0 1 80 0z', p.accent) + repeat(16, (i) => { const side = i < 8 ? 368 : 946; const k = i % 8; return rect(side + (k % 4) * 80, 446 + Math.floor(k / 4) * 134, 48, 84, p.light) + rect(side + (k % 4) * 80 + 22, 446 + Math.floor(k / 4) * 134, 4, 84, p.ink); }) + hill(p.ink, random, 770, 10) + repeat(10, () => at(random.between(100, 1500), random.between(820, 886), random.between(0.7, 1.05), person(random.pick([p.accent, p.light, p.paper]), random))) + at(170, 760, 2.4, tree(p, random)) + at(1440, 770, 2.1, tree(p, random));

const hospital: Scene = (p, random) => sky(p, random, 520) + roofs(p, random, 700, 240, p.light) + block(420, 260, 760, 800, p.mid, p, random) + rect(700, 150, 200, 650, p.paper) + rect(842, 150, 58, 650, 'url(#hatch)', 'opacity=".4"') + rect(776, 190, 48, 150, p.accent) + rect(725, 241, 150, 48, p.accent) + repeat(12, (i) => rect(730 + (i % 3) * 52, 390 + Math.floor(i / 3) * 70, 34, 40, p.dark)) + rect(690, 690, 220, 110, p.ink) + rect(660, 676, 280, 18, p.accent) + rect(0, 796, width, 104, p.ink) + at(random.between(240, 420), 858, 1.25, rect(-110, -90, 200, 80, p.paper) + poly([[90, -90], [130, -46], [130, -10], [90, -10]], p.paper) + rect(-40, -76, 18, 50, p.accent) + rect(-56, -60, 50, 18, p.accent) + circle(-66, -8, 21, p.dark) + circle(84, -8, 21, p.dark)) + repeat(4, () => at(random.between(700, 1500), 878, 1.15, person(p.light, random)));

const nightStreet: Scene = (p, random) => rect(0, 0, width, height, p.ink) + repeat(60, () => circle(random.between(0, width), random.between(0, 380), random.between(1, 2.6), p.light)) + circle(random.between(240, 520), 170, 74, p.paper) + roofs({ ...p, light: p.dark }, random, 640, 380, p.dark) + repeat(2, (s) => { const x = s ? width - 470 : -30; return rect(x, 130, 500, 660, p.mid) + rect(x, 130, 500, 660, 'url(#hatch)', 'opacity=".5"') + repeat(16, (i) => rect(x + 48 + (i % 4) * 112, 170 + Math.floor(i / 4) * 116, 62, 78, random.chance(0.5) ? p.accent : p.dark)) + rect(x, 640, 500, 150, p.dark) + rect(x + 60, 668, 380, 122, p.accent) + repeat(4, (i) => rect(x + 60 + i * 126, 668, 8, 122, p.dark)) + repeat(10, (i) => poly([[x + i * 50, 640], [x + 50 + i * 50, 640], [x + 44 + i * 50, 676], [x - 6 + i * 50, 676]], i % 2 ? p.paper : p.accent)); }) + poly([[0, 790], [1600, 790], [1600, 900], [0, 900]], p.dark) + repeat(26, () => rect(random.between(480, 1120), random.between(800, 892), random.between(20, 90), 3, p.accent, 'opacity=".7"')) + repeat(3, (i) => at(560 + i * 240, 830, 1, rect(-4, -270, 8, 270, p.ink) + path('M-40 -270h80l-14 -34h-52z', p.ink) + circle(0, -262, 15, p.accent) + circle(0, -262, 60, p.accent, 'opacity=".22"'))) + at(random.between(660, 940), 866, 1.8, person(p.ink, random) + path('M-52 -92Q0 -150 52 -92Z', p.ink) + rect(-2, -126, 4, 60, p.ink)) + repeat(70, () => stroke(`M${random.between(0, width)} ${random.between(0, height)}l-9 40`, p.light, 1.6, 'opacity=".5"'));

const subway: Scene = (p, random) => {
  const door = (x: number) => rect(x, 396, 120, 250, p.light) + rect(x + 58, 396, 5, 250, p.ink) + rect(x + 14, 420, 34, 96, p.dark) + rect(x + 72, 420, 34, 96, p.dark);
  return rect(0, 0, width, height, p.light) + repeat(24, (i) => repeat(7, (j) => rect(i * 70 + (j % 2 ? -35 : 0) + 3, j * 38 + 3, 64, 32, p.paper))) + rect(0, 120, width, 66, p.dark) + repeat(5, (i) => rect(60 + i * 340, 136, 150, 34, p.paper) + circle(240 + i * 340, 153, 20, p.accent)) + rect(0, 270, width, 30, p.ink) + rect(0, 340, width, 330, p.mid) + rect(0, 356, width, 14, p.accent) + rect(0, 640, width, 40, p.ink) + repeat(4, (i) => door(110 + i * 420)) + repeat(8, (i) => rect(260 + Math.floor(i / 2) * 420 + (i % 2) * 118, 412, 100, 110, p.paper) + at(306 + Math.floor(i / 2) * 420 + (i % 2) * 118, 522, 0.9, circle(0, -60, 16, p.ink) + path('M-30 0Q-30 -40 0 -40T30 0Z', random.pick([p.dark, p.accent, p.ink])))) + rect(0, 680, width, 220, p.dark) + rect(0, 690, width, 26, p.accent) + rect(0, 716, width, 190, 'url(#dots)', 'opacity=".4"') + repeat(9, () => at(random.between(60, 1540), random.between(800, 890), random.between(1.6, 2.1), person(random.pick([p.ink, p.paper]), random)));
};

const stadium: Scene = (p, random) => sky(p, random, 420) + ellipse(800, 640, 900, 330, p.dark) + repeat(5, (i) => ellipse(800, 650 + i * 22, 860 - i * 60, 290 - i * 34, i % 2 ? p.mid : p.light)) + repeat(520, () => { const a = random.between(Math.PI * 0.98, Math.PI * 2.02); const r = random.between(0.72, 0.98); return circle(800 + Math.cos(a) * 860 * r, 660 + Math.sin(a) * 300 * r, random.between(4, 7), random.pick([p.ink, p.paper, p.accent, p.dark])); }) + ellipse(800, 770, 620, 160, p.mid) + poly([[800, 670], [1090, 790], [800, 940], [510, 790]], p.accent) + poly([[800, 710], [990, 790], [800, 884], [610, 790]], p.mid) + repeat(4, (i) => rect([800, 1068, 800, 532][i] as number - 11, [686, 784, 880, 784][i] as number - 8, 22, 15, p.paper)) + at(800, 800, 1.2, person(p.ink, random)) + at(790, 884, 1.5, person(p.ink, random) + stroke('M18 -66L48 -112', p.paper, 7)) + repeat(5, () => at(random.between(380, 1220), random.between(700, 770), 0.75, person(p.paper, random))) + repeat(2, (i) => at(i ? 1380 : 220, 480, 1, rect(-7, -330, 14, 330, p.ink) + rect(-70, -400, 140, 84, p.ink) + repeat(8, (k) => circle(-48 + (k % 4) * 32, -378 + Math.floor(k / 4) * 40, 12, p.accent))));

const railway: Scene = (p, random) => sky(p, random, 520) + hill(p.light, random, 560, 50) + hill(p.mid, random, 640, 30) + rect(0, 700, width, 200, p.dark) + repeat(40, (i) => rect(i * 42, 752, 22, 30, p.ink)) + rect(0, 744, width, 10, p.light) + rect(0, 786, width, 8, p.light) + at(random.between(500, 640), 750, 1.5, rect(-300, -130, 190, 100, p.mid) + rect(-316, -140, 222, 14, p.ink) + repeat(3, (i) => rect(-284 + i * 58, -114, 40, 44, p.accent)) + rect(-90, -112, 250, 70, p.ink) + ellipse(160, -77, 20, 36, p.ink) + rect(-90, -150, 90, 110, p.dark) + rect(-104, -160, 118, 14, p.accent) + rect(-74, -138, 56, 42, p.accent) + poly([[110, -112], [104, -176], [152, -176], [142, -112]], p.ink) + rect(40, -132, 34, 22, p.accent) + poly([[150, -40], [220, 0], [150, 0]], p.accent) + repeat(5, (i) => circle(-60 + i * 54, -18, i > 2 ? 18 : 27, p.light, `stroke="${p.ink}" stroke-width="7"`)) + repeat(3, (i) => circle(-280 + i * 70, -14, 17, p.light, `stroke="${p.ink}" stroke-width="6"`)) + repeat(9, (i) => circle(130 - i * 46, -200 - i * 17, 20 + i * 8, p.paper, 'opacity=".9"'))) + repeat(6, (i) => at(140 + i * 280, 720, 1, rect(-4, -230, 8, 230, p.ink) + rect(-44, -218, 88, 7, p.ink) + rect(-34, -194, 68, 6, p.ink))) + stroke('M0 506Q140 530 280 506T560 506T840 506T1120 506T1400 506T1680 506', p.ink, 3) + sun(-400, -400, 1, p);

export const cityScenes = { skyline, capitol, courthouse, parliament, harbor, bridge, factory, school, hospital, 'night-street': nightStreet, subway, stadium, railway } satisfies Record<string, Scene>;
