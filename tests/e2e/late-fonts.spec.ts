/** Late fonts move nothing: the fallback fonts (src/styles/font-fallbacks.ts) have the same line widths. */
import { expect, test } from '../world/readers.ts';

const words = [
  'House Passes Highway Bill by One Vote, Cast by a Member in Hospital Slippers',
  'An inspector with a flashlight found it at twenty past nine. By ten o’clock a crossing that carries 38,000 vehicles a day was shut.',
  'Freight Railroads, Under Pressure From Shippers, Agree to Publish Their Delays',
].join(' ');

const faces = [
  ['--font-headline', 'headline-times', '500'],
  ['--font-headline', 'headline-times', '550'],
  ['--font-headline', 'headline-times', '600'],
  ['--font-headline', 'headline-times', 'italic 500'],
  ['--font-text', 'text-times', '400'],
  ['--font-text', 'text-times', '650'],
  ['--font-text', 'text-times', 'italic 400'],
  ['--font-label', 'label-arial', '400'],
  ['--font-label', 'label-arial', '500'],
  ['--font-label', 'label-arial', '600'],
  ['--font-label', 'label-arial', '700'],
] as const;

test('the fallback fonts are as wide as the web fonts, within 1.5%', async ({ page }) => {
  await page.goto('/about');
  const measured = await page.evaluate(
    async ({ faces, words }) => {
      const width = (font: string): number => {
        const line = document.createElement('span');
        line.style.cssText = `position: absolute; white-space: pre; font: ${font}`;
        line.textContent = words;
        document.body.append(line);
        const { width } = line.getBoundingClientRect();
        line.remove();
        return width;
      };
      const installed = (names: string): Promise<boolean> =>
        new FontFace('probe', names).load().then(
          () => true,
          () => false,
        );
      const rows: { face: string; there: boolean; ratio: number }[] = [];
      for (const [variable, standIn, style] of faces) {
        const own = getComputedStyle(document.documentElement).getPropertyValue(variable).split(',')[0];
        await document.fonts.load(`${style} 20px ${own}`, words);
        const loaded = await document.fonts.load(`${style} 20px ${standIn}`, words).catch(() => []);
        const ratio = width(`${style} 20px ${standIn}`) / width(`${style} 20px ${own}`);
        rows.push({ face: `${style} ${standIn}`, there: loaded.length > 0, ratio });
      }
      return {
        rows,
        installed:
          (await installed('local("Times New Roman"), local("Liberation Serif")')) &&
          (await installed('local("Arial"), local("Liberation Sans")')),
      };
    },
    { faces, words },
  );
  test.skip(!measured.installed, 'This system has neither Times New Roman and Arial nor Liberation.');
  for (const { face, there, ratio } of measured.rows) {
    expect(there, face).toBe(true);
    expect(Math.abs(ratio - 1), `${face} is ${ratio.toFixed(4)} as wide`).toBeLessThan(0.015);
  }
});
