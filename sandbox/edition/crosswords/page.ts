/** The page on which a crossword is played, made for a frame: it loads no script or style from elsewhere. */
import fs from 'node:fs';
import path from 'node:path';
import { entries, type Entry, type Puzzle } from './puzzle.ts';

const asset = (name: string): string => fs.readFileSync(path.join(import.meta.dirname, name), 'utf8');
const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] as string);

/** The whole HTML document of one puzzle. */
export function crosswordPage(puzzle: Puzzle): string {
  const { across, down } = entries(puzzle);
  const width = puzzle.rows[0]?.length ?? 0;
  const numbers = new Map([...across, ...down].map((entry) => [entry.cells[0], entry.number]));
  const squares = [...puzzle.rows.join('')].map((letter, index) => {
    if (letter === '#') return '<span class="black"></span>';
    const number = numbers.get(index);
    const place = `Row ${Math.floor(index / width) + 1}, column ${(index % width) + 1}`;
    return `<label>${number ? `<b>${number}</b>` : ''}<input data-cell="${index}" aria-label="${place}" maxlength="2" autocomplete="off" autocapitalize="characters" spellcheck="false" enterkeyhint="next"></label>`;
  });
  const list = (name: string, direction: string, words: Entry[]) =>
    `<section><h2>${name}</h2><ol>${words
      .map((entry) => `<li value="${entry.number}"><button type="button" data-entry="${direction}-${entry.number}">${escape(entry.clue)}</button></li>`)
      .join('')}</ol></section>`;
  const game = { width, rows: puzzle.rows, across, down, slug: puzzle.slug };
  return `<!doctype html>
<html lang="en-US">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(puzzle.title)}</title>
<style>${asset('player.css')}</style>
</head>
<body>
<main style="--width: ${width}">
<div class="board">
<p class="clue" id="clue" aria-live="polite"></p>
<div class="grid" role="group" aria-label="Crossword grid, ${width} by ${puzzle.rows.length}">${squares.join('')}</div>
<p class="tools"><button type="button" id="check">Check</button><button type="button" id="reveal">Reveal word</button><button type="button" id="clear">Clear</button></p>
<p class="done" id="done" role="status"></p>
</div>
<div class="clues">${list('Across', 'across', across)}${list('Down', 'down', down)}</div>
</main>
<script type="application/json" id="game">${JSON.stringify(game).replaceAll('<', '\\u003c')}</script>
<script>${asset('player.js')}</script>
</body>
</html>
`;
}
