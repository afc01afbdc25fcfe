/** Pages of third parties: an advertisement, and Calendly's booking page. */
import { escapeHtml } from '../web.ts';

/** An advertisement of the requested size, for a fictional shop. */
export function creative(size: string, slot: string): string {
  const [width = 300, height = 250] = size.split('x').map(Number);
  const isBanner = height < 100;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Advertisement</title>
<style>
  body { margin: 0; width: ${width}px; height: ${height}px; box-sizing: border-box; display: flex; flex-direction: ${isBanner ? 'row' : 'column'};
    align-items: center; justify-content: center; gap: ${isBanner ? '14px' : '10px'}; background: #123b3a; color: #f4efe2;
    font: 400 ${isBanner ? 12 : 15}px/1.3 Georgia, serif; text-align: center; outline: 1px solid #0b2625; outline-offset: -1px; }
  b { font: 700 ${isBanner ? 17 : height > 200 && width > 500 ? 44 : 26}px/1.05 Georgia, serif; letter-spacing: -0.01em; }
  i { color: #e7b95a; }
</style>
<body data-slot="${escapeHtml(slot)}"><b>Halloran &amp; Wick</b><span>Lamps since <i>1871</i>. Still trimmed by hand.</span></body></html>`;
}

export const bookingPage = (calendar: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Choose a time</title>
<style>body { margin: 3rem; font: 400 1rem/1.5 system-ui, sans-serif; } button { display: block; margin: .5rem 0; padding: .6rem 1.2rem; }</style>
<h1>${escapeHtml(calendar)}</h1><p>Choose a time for your call.</p>
<button>Monday, 10:00 a.m.</button><button>Monday, 2:30 p.m.</button><button>Tuesday, 11:00 a.m.</button></html>`;
