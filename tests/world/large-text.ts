/**
 * A browser whose reader has doubled the size of the text, as Chromium's and Firefox's settings for fonts do; it isn't a zoom of the page.
 */
import type { CDPSession, Page } from '@playwright/test';

const normalSizes = { standard: 16, fixed: 13 };
const doubledSizes = { standard: 32, fixed: 26 };

/** Opens the browser's setting for the size of text; the setting lasts until the window is resized. */
export const textSizeOf = async (page: Page): Promise<CDPSession> => page.context().newCDPSession(page);

/** Runs checks of the open document while its text has twice the usual size. */
export async function withLargeText(setting: CDPSession, page: Page, check: () => Promise<void>): Promise<void> {
  await setting.send('Page.setFontSizes', { fontSizes: doubledSizes });
  await page.waitForFunction(() => getComputedStyle(document.documentElement).fontSize === '32px');
  await check();
  await setting.send('Page.setFontSizes', { fontSizes: normalSizes });
}

/**
 * Words that a reader can't see whole: outside the window, or outside a box that hides its overflow. Words in boxes that scroll, and those
 * that are hidden or decoration, don't count.
 */
export const cutWords = (page: Page): Promise<string[]> => page.evaluate(readCutWords);

function readCutWords(): string[] {
  const window = { left: 0, right: document.documentElement.clientWidth, top: -Infinity, bottom: Infinity };
  const hidden = '[aria-hidden="true"], .visually-hidden, .skip-link, script, style, noscript, svg, option';
  /**
   * The part of the window that an element and its ancestors leave visible; `null` if a reader can scroll there, or if nothing is meant
   * to be visible.
   */
  const shownAround = (element: Element): typeof window | null => {
    let { left, right, top, bottom } = window;
    for (let box: Element | null = element; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/auto|scroll/.test(style.overflow) || style.clipPath.startsWith('inset(50%')) return null;
      const edges = box.getBoundingClientRect();
      if (/hidden|clip/.test(style.overflowX)) {
        left = Math.max(left, edges.left);
        right = Math.min(right, edges.right);
      }
      if (/hidden|clip/.test(style.overflowY)) {
        top = Math.max(top, edges.top);
        bottom = Math.min(bottom, edges.bottom);
      }
    }
    return { left, right, top, bottom };
  };
  const cut: string[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    const words = text.textContent?.trim();
    if (!words || !element || element.closest(hidden)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const shown = shownAround(element);
    if (!shown) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    // Letters are lower than their line, so a quarter of the line may be outside.
    const isCut = [...range.getClientRects()].some(
      ({ left, right, top, bottom, width, height }) =>
        width > 1 &&
        (left < shown.left - 1.5 ||
          right > shown.right + 1.5 ||
          top < shown.top - height / 4 ||
          bottom > shown.bottom + height / 4),
    );
    if (isCut) cut.push(words.slice(0, 60));
  }
  return cut;
}

/**
 * Words of up to ten letters that are broken across two lines: their column is too narrow for any text.
 *
 * @param within selector of the part to check
 */
export const brokenWords = (page: Page, within = 'body'): Promise<string[]> =>
  page.evaluate((selector) => {
    const broken: string[] = [];
    for (const root of document.querySelectorAll(selector)) {
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const element = text.parentElement;
        if (!element?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        if (element.closest('.visually-hidden, script, style, noscript, option')) continue;
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(
          /(?<![\p{L}\p{N}@.-])\p{L}{2,10}(?![\p{L}\p{N}@.-])/gu,
        )) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const tops = [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top));
          if (tops.some((top) => top > Math.min(...tops) + 4)) broken.push(word);
        }
      }
    }
    return broken;
  }, within);
